"""The full check of one redacted output: what of the flagged values it still shows, as what and where.

Three looks, each at what the one before left. In place: every replacement is compared with what it replaced. At the
edges: what touches a mask and goes on with its value. Elsewhere: every value, and every name of one, in any spelling.
A place of the output is told once.

Time is linear in the text, the output and the spans: 10,000 spans in 1 MB take the time of 10,000 values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from monitor.leaks.alignment import merge_stretches
from monitor.leaks.edges import glued_after, glued_before, rest_after, rest_before
from monitor.leaks.evidence import Prose
from monitor.leaks.findings import Checked, Leak
from monitor.leaks.in_place import NOWHERE, Edge, InPlace, look_in_place
from monitor.leaks.layout import Layout, lay_out
from monitor.leaks.masks import BRACKETED
from monitor.leaks.mentions import Mention, Searched
from monitor.leaks.percent import Decoded, decode
from monitor.leaks.policy import Policy
from monitor.leaks.squeezed import trace
from monitor.leaks.values import WORDS, Key, Way, keys_of, nature_of
from monitor.net import Net
from monitor.records import Span

_WEIGHTY = 7
"""Letters of a value that don't come together in a replacement by chance."""


def check(text: str, spans: Sequence[Span], redacted: str, policy: Policy, net: Net | None = None) -> Checked:
    """Return what the output still shows of the flagged values.

    Parameters
    ----------
    text
        What the detector read.
    spans
        What it flagged, in code points of `text`, in any order; they may overlap.
    redacted
        What the redactor made of it.
    policy
        What may stay.
    net
        The loose net: asked about what touches a mask and no other rule knows.

    Examples
    --------
    >>> found = check("call 06-24 11 87 03 now", [Span(5, 19, "PHONE_NUMBER")], "call 06-24 11 87 ** now", Policy())
    >>> [(leak.kind, leak.start, leak.end) for leak in found.leaks]
    [('partial_mask', 5, 16)]
    """
    secret = _outermost([span for span in spans if not policy.of(span.entity).ignore])
    layout = lay_out(text, spans, redacted)
    decoded = None if layout.exact else decode(redacted)
    if decoded is not None and lay_out(text, spans, decoded.text).exact:
        found = check(text, spans, decoded.text, policy, net)
        return Checked(
            aligned=False,
            leaks=_in_order(_told_in(decoded, leak) for leak in found.leaks),
            masked=(),
            replaced_spans=0,
        )
    look = look_in_place(text, secret, redacted, policy, layout) if layout.readable else NOWHERE
    leaks = list(look.leaks)
    leaks += _find_rests(Searched(text), secret, policy, look, net)
    sources = _key_sources(text, secret)
    leaks += _find_elsewhere(text, sources, Searched(redacted), policy, layout, leaks)
    if decoded is not None:
        leaks += _find_elsewhere(text, sources, Searched(decoded.text), policy, layout, leaks, decoded)
    return Checked(
        aligned=layout.aligned,
        leaks=_in_order(leaks),
        masked=look.masked if layout.aligned else (),
        replaced_spans=look.replaced_spans,
    )


def check_places(
    text: str,
    spans: Sequence[Span],
    output: Searched,
    policy: Policy,
    net: Net | None,
    layout: Layout,
    shown: Sequence[int],
    named: Sequence[Span],
) -> Checked:
    """Return what `check` does, of an output that is the text with the spans replaced, looking at some of them alone.

    What a replacement and its edges show depends on no other span then.

    Parameters
    ----------
    text, spans, policy, net
        What `check` takes; the spans in order, none touching another.
    output
        The redacted text.
    layout
        What `lay_out` makes of them; one replacement a span.
    shown
        Numbers of the spans that their replacement, or what is beside it, may show something of.
    named
        Those whose values may stand elsewhere, in order, none of an ignored entity.
    """
    secret = [span for span in spans if not policy.of(span.entity).ignore]
    look = look_in_place(text, secret, output.text, policy, layout, shown)
    leaks = list(look.leaks)
    leaks += _find_rests(Searched(text), secret, policy, look, net)
    leaks += _find_elsewhere(text, _key_sources(text, named), output, policy, layout, leaks)
    seen = frozenset(shown)
    others = [(span.start, span.end) for number, span in enumerate(spans) if number not in seen]
    ignored = [number for number in shown if policy.of(spans[number].entity).ignore]
    return Checked(
        aligned=True,
        leaks=_in_order(leaks),
        masked=tuple(sorted([*look.masked, *others])),
        replaced_spans=look.replaced_spans + len(secret) - (len(shown) - len(ignored)),
    )


def _in_order(leaks: Iterable[Leak]) -> tuple[Leak, ...]:
    """Return leaks as `Checked` holds them: each once, by where their values stand."""
    return tuple(sorted(set(leaks), key=lambda leak: (leak.start, leak.kind, leak.output_start, leak)))


def _outermost(spans: Sequence[Span]) -> list[Span]:
    """Return the spans in order, without those that lie inside another: what masks that one masks them."""
    kept: list[Span] = []
    reached = -1
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if span.end > reached:
            kept.append(span)
            reached = span.end
    return kept


def _find_rests(source: Searched, spans: Sequence[Span], policy: Policy, look: InPlace, net: Net | None) -> list[Leak]:
    """Return what touches a mask and belongs to its value."""
    leaks: list[Leak] = []
    starts = [span.start for span in spans]
    for edge in look.edges:
        span, cluster = edge.span, edge.replaced
        if edge.after:
            low, high = (
                cluster.end,
                rest_after(source, max(span.start, cluster.start), cluster.end, span.entity, edge.limit),
            )
            output = cluster.output_end
        else:
            low, high = (
                rest_before(source, cluster.start, min(span.end, cluster.end), span.entity, edge.limit),
                cluster.start,
            )
            output = cluster.output_start - (high - low)
        at = bisect_left(starts, high)
        if low < high and not (at and spans[at - 1].end > low):
            place = output, output + high - low
            leaks.append(Leak("edge_fragment", policy.name(span.entity), low, high, *place))
        elif net is not None and low == high and (run := _glued(source.text, edge)):
            low, high = run
            if net.catches(source.text[low:high]) and not (at and spans[at - 1].end > low):
                output = cluster.output_end if edge.after else cluster.output_start - (high - low)
                leaks.append(Leak("net_on_output", policy.name(span.entity), low, high, output, output + high - low))
    return leaks


def _glued(text: str, edge: Edge) -> tuple[int, int] | None:
    """Return the stretch that is glued to a mask there."""
    if edge.after:
        return glued_after(text, edge.replaced.end, edge.limit)
    return glued_before(text, edge.replaced.start, edge.limit)


def _find_elsewhere(  # each of them is asked about where a value stands
    text: str,
    sources: Mapping[Key, Span],
    output: Searched,
    policy: Policy,
    layout: Layout,
    leaks: Sequence[Leak],
    decoded: Decoded | None = None,
) -> list[Leak]:
    """Return where values, or names of them, stand in the output beside the places that were told already.

    `decoded`: what `output` is, where it's the output without its percent escapes.
    """
    if not sources:
        return []
    told = merge_stretches([(leak.output_start, leak.output_end) for leak in leaks])
    if layout.readable:
        written = [(one.output_start, one.output_end) for one in layout.replaced]
    else:
        written = [match.span() for match in BRACKETED.finditer(output.text)]
    found: list[Leak] = []
    for one in output.mentions(list(sources)):
        mention = one if decoded is None else _met_in(decoded, one)
        span = sources[mention.key]
        if _overlaps(told, mention) or (_overlaps(written, mention) and not _is_value(mention, span, policy)):
            continue
        letters, places = trace(text[span.start : span.end])
        first = letters.find(mention.key.letters) + mention.first
        last = first + mention.last - mention.first
        piece = span.start + places[first][0], span.start + places[last - 1][1]
        found.append(Leak("survives_elsewhere", policy.name(span.entity), *piece, mention.start, mention.end))
    return found


def _key_sources(text: str, spans: Sequence[Span]) -> Mapping[Key, Span]:
    """Return what to look for and whose it is: the first span's that has it whole, a name's before a mail address's.

    A name of one word that the text nowhere uses by itself is looked for as a part of one.
    """
    sources: dict[str, tuple[Key, Span]] = {}
    prose = Prose(text)
    for span in sorted(spans, key=lambda s: nature_of(s.entity) == "mail"):
        for key in keys_of(span.entity, text[span.start : span.end]):
            way = key.way
            if way == "name" and not prose.uses_alone(span.start, span.end):
                way = "part"
            held = sources.get(key.letters)
            if held is None or _TOLD[way] < _TOLD[held[0].way]:
                sources[key.letters] = Key(key.letters, way), span
    return dict(sources.values())


def _told_in(decoded: Decoded, leak: Leak) -> Leak:
    start, end = decoded.place(leak.output_start, leak.output_end)
    return leak._replace(output_start=start, output_end=end)


def _met_in(decoded: Decoded, mention: Mention) -> Mention:
    start, end = decoded.place(mention.start, mention.end)
    return mention._replace(start=start, end=end)


_TOLD: Mapping[Way, int] = {"whole": 0, "number": 0, "street": 1, "name": 2, "given": 3, "part": 4}
"""Of two keys with the same letters, what counts where it's met comes first."""


def _is_value(mention: Mention, span: Span, policy: Policy) -> bool:
    """Return whether what stands inside a replacement is a value whole, and not there by chance."""
    whole = mention.key.way not in WORDS and mention.last - mention.first == len(mention.key.letters)
    return whole and len(mention.key.letters) >= _WEIGHTY and not policy.of(span.entity).surrogate


def _overlaps(stretches: Sequence[tuple[int, int]], mention: Mention) -> bool:
    at = bisect_left(stretches, (mention.end, 0))
    return at > 0 and stretches[at - 1][1] > mention.start
