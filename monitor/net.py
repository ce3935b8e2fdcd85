"""The loose net: does a text hold anything that looks like personal data? One RE2 pass over its UTF-8 bytes.

All patterns and triggers are one `re2.Set`, a single automaton whose cost a byte doesn't grow with their number, and
which no pattern can make superlinear. Three things it doesn't do by itself:

* *Say that it failed.* If its automaton outgrows `max_mem`, `Set.Match` answers "nothing". `_SENTINEL` matches every
  text, so an answer without it is a failure; each pattern is then searched alone, where RE2 needs no automaton.
* *Check sums.* Where all that matched has a check, candidates are looked up again, in one further pass with the union
  of those patterns, and tried one at a time. Tries are bounded by the text's length; a text with more candidates
  than that, all of them wrong, counts as caught: a table of numbers that nobody may skip is what a loose net is for.
* *Take a str.* The binding reads a buffer of bytes. Encoding copies ASCII at memory speed; text that isn't ASCII costs
  a few µs for 5 KB, and bytes of the record itself are no way out: JSON escapes stand in them.
"""

from __future__ import annotations


