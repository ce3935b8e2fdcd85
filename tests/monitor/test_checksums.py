"""Checksums: published examples, invented numbers with a right check digit, and what a wrong digit does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checksums import CHECKS, IBAN_LENGTHS, luhn

VALID = [
    # Published examples and test numbers.
    ("luhn", "79927398713"),
    ("payment_card", "4111 1111 1111 1111"),
    ("payment_card", "3782-822463-10005"),
    ("payment_card", "30569309025904"),
    ("payment_card", "6304 0000 0000 0000"),
    ("iban", "GB82 WEST 1234 5698 7654 32"),
    ("iban", "DE89370400440532013000"),
    ("iban", "FR14 2004 1010 0505 0001 3M02 606"),
    ("iban", "ES91 2100 0418 4502 0005 1332"),
    ("iban", "nl91abna0417164300"),
    ("iban", "NO93 8601 1117 947"),
    ("iban", "MT84MALT011000012345MTLCAST001S"),
    ("es_nif", "12345678Z"),
    ("es_nif", "12.345.678-z"),
    ("es_nif", "X1234567L"),
    ("es_nif", "Y-1234567-X"),
    ("es_nif", "Z1234567R"),
    ("es_nif", "K1234567L"),
    ("nl_bsn", "111222333"),
    ("nl_bsn", "1234.56.782"),
    ("fr_nir", "255081416802538"),
    ("fr_nir", "2 55 08 14 168 025 38"),
    ("de_steuer_id", "47036892816"),
    ("de_steuer_id", "86 095 742 719"),
    ("de_steuer_id", "65929970489"),
    ("uk_nino", "AB123456C"),
    ("uk_nino", "ab 12 34 56 d"),
    ("uk_nhs", "943 476 5919"),
    ("uk_nhs", "4010232137"),
    ("us_ssn", "219-09-1234"),
]

INVALID = [
    ("luhn", ""),
    ("luhn", "79927398710"),
    ("luhn", "7992739871x"),
    ("luhn", "٧٩٩٢٧٣٩٨٧١٣"),
    ("payment_card", "4111 1111 1111 1112"),
    ("payment_card", "0000 0000 0000 0000"),
    ("payment_card", "79927398713"),
    ("iban", "GB82 WEST 1234 5698 7654 33"),
    ("iban", "GB82 WEST 1234 5698 7654 3"),
    ("iban", "XX82 WEST 1234 5698 7654 32"),
    ("iban", "GB82 WÉST 1234 5698 7654 32"),
    ("iban", ""),
    ("es_nif", "12345678A"),
    ("es_nif", "X1234567A"),
    ("es_nif", "1234567Z"),
    ("es_nif", "A58818501"),
    ("es_nif", "１２３４５６７８Z"),
    ("nl_bsn", "111222334"),
    ("nl_bsn", "000000000"),
    ("nl_bsn", "11122233"),
    ("fr_nir", "255081416802539"),
    ("fr_nir", "2550814168025"),
    ("fr_nir", "25508ZZ16802538"),
    ("de_steuer_id", "47036892817"),
    ("de_steuer_id", "12345678901"),
    ("de_steuer_id", "11111111111"),
    ("de_steuer_id", "01234567811"),
    ("uk_nino", "GB123456C"),
    ("uk_nino", "QQ123456C"),
    ("uk_nino", "AO123456C"),
    ("uk_nino", "AB123456E"),
    ("uk_nino", "AB12345C"),
    ("uk_nhs", "943 476 5918"),
    ("uk_nhs", "0000000000"),
    ("us_ssn", "000-12-1234"),
    ("us_ssn", "666-12-1234"),
    ("us_ssn", "900-12-1234"),
    ("us_ssn", "219-00-1234"),
    ("us_ssn", "219-09-0000"),
    ("us_ssn", "219-09-123"),
]

digit_texts = st.text("0123456789", min_size=1, max_size=18)


def nir_key(number: int) -> str:
    """Return the key by the formula as INSEE prints it: 97 − number modulo 97."""
    return f"{97 - number % 97:02}"


@pytest.mark.parametrize(("check", "candidate"), VALID)
def test_a_right_number_passes_its_check(check: str, candidate: str) -> None:
    """Published examples pass, with the separators people use."""
    assert CHECKS[check](candidate)


@pytest.mark.parametrize(("check", "candidate"), INVALID)
def test_a_wrong_number_fails_its_check(check: str, candidate: str) -> None:
    """A wrong check digit, a wrong length or a shape that isn't issued fails."""
    assert not CHECKS[check](candidate)


@pytest.mark.parametrize(("department", "stands_for"), [("2A", 19), ("2b", 18)])
def test_corsican_departments_count_as_19_and_18(department: str, stands_for: int) -> None:
    """The key of a number from 2A or 2B is that of 19 or 18, which by themselves would be other people's."""
    key = nir_key(int(f"18507{stands_for}004123"))
    assert CHECKS["fr_nir"](f"18507{department}004123{key}")
    assert not CHECKS["fr_nir"](f"18507{department}004123{(int(key) + 1) % 97:02}")


@pytest.mark.parametrize(
    ("first_ten", "allowed"),
    [("1234567891", True), ("1213456178", True), ("1114567892", False), ("1122345678", False), ("1234567890", False)],
)
def test_steuer_id_repeats_exactly_one_digit(first_ten: str, *, allowed: bool) -> None:
    """One digit occurs twice, or thrice but not in a row: of the ten possible check digits one passes, or none."""
    passing = [last for last in "0123456789" if CHECKS["de_steuer_id"](first_ten + last)]
    assert len(passing) == int(allowed)


@given(digit_texts)
def test_exactly_one_check_digit_passes_luhn(number: str) -> None:
    """Each number has one right check digit."""
    assert sum(luhn(f"{number}{last}") for last in range(10)) == 1


@given(digit_texts, st.data())
def test_a_single_wrong_digit_breaks_luhn(number: str, data: st.DataObject) -> None:
    """Luhn sees each change of one digit."""
    right = next(f"{number}{last}" for last in range(10) if luhn(f"{number}{last}"))
    place = data.draw(st.integers(0, len(right) - 1))
    other = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != right[place]]))
    assert not luhn(right[:place] + other + right[place + 1 :])


@given(st.sampled_from(sorted(IBAN_LENGTHS)), st.data())
def test_a_single_wrong_character_breaks_an_iban(country: str, data: st.DataObject) -> None:
    """Modulo 97 sees each change of one digit or letter of the account number."""
    size = IBAN_LENGTHS[country] - 4
    account = data.draw(st.text("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=size, max_size=size))
    spelled = "".join(str(int(character, 36)) for character in f"{account}{country}00")
    right = f"{country}{98 - int(spelled) % 97:02}{account}"
    assert CHECKS["iban"](right)
    assert CHECKS["iban"](f"{right} and more")
    place = data.draw(st.integers(4, len(right) - 1))
    alphabet = "0123456789" if right[place].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    other = data.draw(st.sampled_from([character for character in alphabet if character != right[place]]))
    assert not CHECKS["iban"](right[:place] + other + right[place + 1 :])


@given(st.sampled_from(["nl_bsn", "uk_nhs"]), st.text("0123456789", min_size=9, max_size=9), st.data())
def test_a_single_wrong_digit_breaks_an_eleven_test(check: str, digits: str, data: st.DataObject) -> None:
    """Weights that are prime to 11 see each change of one digit."""
    candidates = [digits[:8] + str(last) if check == "nl_bsn" else digits + str(last) for last in range(10)]
    right = next((candidate for candidate in candidates if CHECKS[check](candidate)), None)
    if right is None:
        return
    place = data.draw(st.integers(0, len(right) - 1))
    other = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != right[place]]))
    assert not CHECKS[check](right[:place] + other + right[place + 1 :])


@given(st.sampled_from(sorted(CHECKS)), st.text(max_size=40))
def test_no_candidate_is_an_error(check: str, candidate: str) -> None:
    """A check is asked about whatever an operator's regex matched, and answers."""
    assert CHECKS[check](candidate) in {True, False}
