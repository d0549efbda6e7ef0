# SPDX-License-Identifier: Apache-2.0
"""RFC 6455, frame by frame over a plain socket (catalogue case 82): the cases of the Autobahn catalogue's sections 1 to 7
and 10, under their numbers.

The server does not echo. A message is accepted if it is answered as one whose op is unknown; to be so, it is JSON.
"""

import random
import struct
import unittest

import harness
from frame_client import ACCEPTED, BINARY, CLOSE, CONTINUE, PING, PONG, TEXT, Client, Frame

LARGEST = 4096  # stream.max_message_bytes
VIOLATION = {1002}
NOT_TEXT = {1007}
TOO_LARGE = {1009}


def message(size=None, text=b""):
    """JSON with an op that does not exist: of `size` bytes, or with `text` in it."""
    start, end = b'{"op":"none","text":"', b'"}'
    if size is not None:
        text = b"*" * (size - len(start) - len(end))
    return start + text + end


def pieces(payload, size, chop=0, opcode=TEXT):
    """A message in fragments of `size` bytes."""
    parts = [payload[start:start + size] for start in range(0, len(payload), size)]
    return [Frame(CONTINUE if index else opcode, part, index + 1 == len(parts), chop=chop)
            for index, part in enumerate(parts)]


def text(payload=None, **options):
    return Frame(TEXT, message() if payload is None else payload, **options)


def goodbye(code=1000, reason=b""):
    return Frame(CLOSE, struct.pack(">H", code) + reason)


# Each case: number, what it is (section of the RFC), frames, what is heard: accepted messages, pongs, and either a
# set of close codes or nothing, if the connection stays.

def sizes():
    """1: payloads of all three lengths of a length (5.2)."""
    for kind, opcode, wrong in ((1, TEXT, NOT_TEXT), (2, BINARY, {1003})):
        for number, size in enumerate((0, 125, 126, 127, 128, 65535, 65536, 65536), 1):
            payload = message(size) if size else b""
            frame = Frame(opcode, payload, chop=997 if number == 8 else 0)
            expected = [TOO_LARGE] if size > LARGEST else [ACCEPTED] if opcode == TEXT and size else [wrong]
            yield "1.%d.%d" % (kind, number), [frame], expected


def pings():
    """2: every ping has its pong, and an unsolicited pong is nothing (5.5.2, 5.5.3)."""
    octets = bytes([0, 255, 254, 253, 252, 251, 0, 255])
    ten = [b"payload-%d" % number for number in range(10)]
    yield "2.1", [Frame(PING)], [("pong", b"")]
    yield "2.2", [Frame(PING, b"Hello, world!")], [("pong", b"Hello, world!")]
    yield "2.3", [Frame(PING, octets)], [("pong", octets)]
    yield "2.4", [Frame(PING, b"\xfe" * 125)], [("pong", b"\xfe" * 125)]
    yield "2.5", [Frame(PING, b"\xfe" * 126)], [VIOLATION]
    yield "2.6", [Frame(PING, b"\xfe" * 125, chop=1)], [("pong", b"\xfe" * 125)]
    yield "2.7", [Frame(PONG)], []
    yield "2.8", [Frame(PONG, b"unsolicited")], []
    yield "2.9", [Frame(PONG, b"unsolicited"), Frame(PING, b"ping")], [("pong", b"ping")]
    yield "2.10", [Frame(PING, payload) for payload in ten], [("pong", payload) for payload in ten]
    yield "2.11", [Frame(PING, payload, chop=1) for payload in ten], [("pong", payload) for payload in ten]


def reserved_bits():
    """3: there are no extensions (5.2)."""
    yield "3.1", [text(rsv=1)], [VIOLATION]
    for number, rsv, chop in ((2, 2, 0), (3, 3, 64), (4, 4, 1)):
        yield ("3.%d" % number, [text(chop=chop), text(rsv=rsv, chop=chop), Frame(PING, chop=chop)],
               [ACCEPTED, VIOLATION])
    yield "3.5", [Frame(BINARY, b"\0\xff", rsv=5)], [VIOLATION]
    yield "3.6", [Frame(PING, b"x", rsv=6)], [VIOLATION]
    yield "3.7", [Frame(CLOSE, rsv=7)], [VIOLATION]


def opcodes():
    """4: opcodes that do not exist (5.2)."""
    for kind, first in ((1, 3), (2, 11)):
        yield "4.%d.1" % kind, [Frame(first)], [VIOLATION]
        yield "4.%d.2" % kind, [Frame(first + 1, b"reserved opcode payload")], [VIOLATION]
        for number, payload, chop in ((3, b"", 0), (4, b"reserved opcode payload", 0),
                                      (5, b"reserved opcode payload", 1)):
            yield ("4.%d.%d" % (kind, number),
                   [text(chop=chop), Frame(first + number - 1, payload, chop=chop), Frame(PING, chop=chop)],
                   [ACCEPTED, VIOLATION])


def fragments():
    """5: fragmentation, with control frames between fragments (5.4, 5.5)."""
    half = len(message()) // 2
    first, second = pieces(message(), half + 1)
    yield "5.1", [Frame(PING, b"fragment1", False), Frame(CONTINUE, b"fragment2")], [VIOLATION]
    yield "5.2", [Frame(PONG, b"fragment1", False), Frame(CONTINUE, b"fragment2")], [VIOLATION]
    for number, chop in ((3, 0), (4, 16), (5, 1)):
        yield "5.%d" % number, pieces(message(), half + 1, chop), [ACCEPTED]
    for number, chop in ((6, 0), (7, 16), (8, 1)):
        begin, end = pieces(message(), half + 1, chop)
        yield "5.%d" % number, [begin, Frame(PING, b"ping", chop=chop), end], [("pong", b"ping"), ACCEPTED]
    for number, fin in ((9, True), (12, False)):
        for offset, chop in enumerate((0, 16, 1)):
            yield ("5.%d" % (number + offset),
                   [Frame(CONTINUE, b"non-continuation payload", fin, chop=chop), text(chop=chop)], [VIOLATION])
    yield "5.15", [first, second, Frame(CONTINUE, b"fragment3", False), text()], [ACCEPTED, VIOLATION]
    for number, fin in ((16, False), (17, True)):
        yield ("5.%d" % number,
               [Frame(CONTINUE, b"fragment1", fin), Frame(TEXT, b"fragment2", False), Frame(CONTINUE, b"fragment3")] * 2,
               [VIOLATION])
    yield "5.18", [Frame(TEXT, b"fragment1", False), Frame(TEXT, b"fragment2")], [VIOLATION]
    for number, chop in ((19, 0), (20, 1)):
        parts = pieces(message(), len(message()) // 5 + 1, chop)
        assert len(parts) == 5
        yield ("5.%d" % number,
               parts[:2] + [Frame(PING, b"first", chop=chop)] + parts[2:4] + [Frame(PING, b"second", chop=chop)] + parts[4:],
               [("pong", b"first"), ("pong", b"second"), ACCEPTED])


GREEK = "\u03ba\u1f79\u03c3\u03bc\u03b5".encode()  # 11 bytes
LAST_MISSING = [b"\xc0", b"\xe0\x80", b"\xf0\x80\x80", b"\xf8\x80\x80\x80", b"\xfc\x80\x80\x80\x80",
                b"\xdf", b"\xef\xbf", b"\xf7\xbf\xbf", b"\xfb\xbf\xbf\xbf", b"\xfd\xbf\xbf\xbf\xbf"]


def surrogate(code):
    return bytes([0xe0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63])


def lonely(first, last):
    return b"".join(bytes([byte]) + b" " for byte in range(first, last + 1))


# Section 6 from its fifth group on: sequences, of which those that Python decodes are valid.
SEQUENCES = {
    5: [GREEK, b"hello$world", "hello¢world".encode(), "hello€world".encode(), "hello𤭢world".encode()],
    6: [GREEK[:size] for size in range(1, len(GREEK) + 1)],
    7: [b"\0", b"\xc2\x80", b"\xe0\xa0\x80", b"\xf0\x90\x80\x80"],
    8: [b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80"],
    9: [b"\x7f", b"\xdf\xbf", b"\xef\xbf\xbf", b"\xf4\x8f\xbf\xbf"],
    10: [b"\xf7\xbf\xbf\xbf", b"\xfb\xbf\xbf\xbf\xbf", b"\xfd\xbf\xbf\xbf\xbf\xbf"],
    11: [b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xef\xbf\xbd", b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80"],
    12: [b"\x80", b"\xbf", b"\x80\xbf", b"\x80\xbf\x80", b"\x80\xbf" * 2, b"\x80\xbf" * 2 + b"\x80", b"\x80\xbf" * 3,
         bytes(range(0x80, 0xc0))],
    13: [lonely(0xc0, 0xdf), lonely(0xe0, 0xef), lonely(0xf0, 0xf7), lonely(0xf8, 0xfb), lonely(0xfc, 0xfd)],
    14: LAST_MISSING,
    15: [b"".join(LAST_MISSING)],
    16: [b"\xfe", b"\xff", b"\xfe\xfe\xff\xff"],
    17: [b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xf8\x80\x80\x80\xaf", b"\xfc\x80\x80\x80\x80\xaf"],
    18: [b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\xf8\x87\xbf\xbf\xbf", b"\xfc\x83\xbf\xbf\xbf\xbf"],
    19: [b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xf8\x80\x80\x80\x80", b"\xfc\x80\x80\x80\x80\x80"],
    20: [surrogate(code) for code in (0xd800, 0xdb7f, 0xdb80, 0xdbff, 0xdc00, 0xdf80, 0xdfff)],
    21: [surrogate(high) + surrogate(low) for high in (0xd800, 0xdb7f, 0xdb80, 0xdbff) for low in (0xdc00, 0xdfff)],
    22: [chr(plane << 16 | last).encode() for plane in range(17) for last in (0xfffe, 0xffff)],
    23: [chr(code).encode() for code in range(0xfff9, 0x10000)],
}


def is_utf8(sequence):
    try:
        sequence.decode()
        return True
    except UnicodeDecodeError:
        return False


def utf8():
    """6: text is UTF-8, wherever it is cut (8.1)."""
    words = message(text="Hello-µ@ßöäüàá-UTF-8!!".encode())
    middle = words.index("ß".encode())
    wrong = message(text=GREEK + b"\xed\xa0\x80edited")
    spoilt = wrong.index(b"\xed\xa0\x80")
    yield "6.1.1", [Frame(TEXT)], [NOT_TEXT]
    yield "6.1.2", [Frame(TEXT, fin=False), Frame(CONTINUE, fin=False), Frame(CONTINUE)], [NOT_TEXT]
    yield "6.1.3", [Frame(TEXT, fin=False), Frame(CONTINUE, message(), False), Frame(CONTINUE)], [ACCEPTED]
    yield "6.2.1", [text(words)], [ACCEPTED]
    yield "6.2.2", [Frame(TEXT, words[:middle], False), Frame(CONTINUE, words[middle:])], [ACCEPTED]
    yield "6.2.3", pieces(words, 1), [ACCEPTED]
    yield "6.2.4", pieces(message(text=GREEK), 1), [ACCEPTED]
    yield "6.3.1", [text(wrong)], [NOT_TEXT]
    yield "6.3.2", pieces(wrong, 1), [NOT_TEXT]
    for number, cut in ((1, spoilt), (2, spoilt + 1)):
        yield ("6.4.%d" % number, [Frame(TEXT, wrong[:cut], False), Frame(CONTINUE, wrong[cut:cut + 3], False),
                                   Frame(CONTINUE, wrong[cut + 3:])], [NOT_TEXT])
        yield "6.4.%d" % (number + 2), [text(wrong, chop=cut + 6)], [NOT_TEXT]
    for group, sequences in SEQUENCES.items():
        for number, sequence in enumerate(sequences, 1):
            # A raw NUL is UTF-8, but not JSON.
            valid = is_utf8(sequence) and sequence != b"\0"
            yield ("6.%d.%d" % (group, number), [text(message(text=sequence))], [ACCEPTED if valid else NOT_TEXT])


def closes():
    """7: the close handshake and its codes (5.5.1, 7)."""
    first, second = pieces(message(), len(message()) // 2 + 1)
    yield "7.1.1", [text(), goodbye()], [ACCEPTED, {1000}]
    yield "7.1.2", [goodbye(), goodbye()], [{1000}]
    yield "7.1.3", [goodbye(), Frame(PING)], [{1000}]
    yield "7.1.4", [goodbye(), text()], [{1000}]
    yield "7.1.5", [first, goodbye(), second], [{1000}]
    yield "7.1.6", [text(message(256 * 1024)), text(), goodbye(), Frame(PING)], [TOO_LARGE]
    yield "7.3.1", [Frame(CLOSE)], [{1000, 1005}]
    yield "7.3.2", [Frame(CLOSE, b"a")], [VIOLATION]
    yield "7.3.3", [goodbye()], [{1000}]
    yield "7.3.4", [goodbye(reason="Hello Wörld!".encode())], [{1000}]
    yield "7.3.5", [goodbye(reason=b"*" * 123)], [{1000}]
    yield "7.3.6", [goodbye(reason=b"*" * 124)], [VIOLATION]
    yield "7.5.1", [goodbye(reason=GREEK + b"\xed\xa0\x80edited")], [{1002, 1007}]
    valid = (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)
    for number, code in enumerate(valid, 1):
        yield "7.7.%d" % number, [goodbye(code)], [{code}]
    for number, code in enumerate((0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999), 1):
        yield "7.9.%d" % number, [goodbye(code)], [VIOLATION]
    for number, code in enumerate((5000, 65535), 1):
        yield "7.13.%d" % number, [goodbye(code)], [VIOLATION]


def many_fragments():
    """10: a message in many fragments (5.4)."""
    yield "10.1.1", pieces(message(65536), 1300), [TOO_LARGE]


def own():
    """Beyond the catalogue: what a client must do, and lengths that lie (5.1, 5.2)."""
    yield "largest", pieces(message(LARGEST), 1300), [ACCEPTED]
    yield "too large by one", pieces(message(LARGEST + 1), 1300), [TOO_LARGE]
    yield "large before it is there", [Frame(TEXT, message(LARGEST), False), Frame(CONTINUE, b"x", False)], [TOO_LARGE]


SECTIONS = (sizes, pings, reserved_bits, opcodes, fragments, utf8, closes, many_fragments)


class WebSocketProtocolTest(harness.JobTest):
    def setUp(self):
        super().setUp()
        trainwatch = harness.Trainwatch(self.directory, "--stream.max-message-rate=100000")
        self.trainwatch = trainwatch.__enter__()
        self.addCleanup(trainwatch.__exit__)

    def hear(self, number, frames, stays):
        client = Client(self.trainwatch.url, number)
        try:
            sent = client.send(frames)
            if stays:
                self.assertTrue(sent)
                client.send([Frame(PING, b"end")])
            heard = client.heard()
            if stays:
                client.send([goodbye()])
                self.assertEqual(client.heard(), [("close", 1000)])
            elif heard[-1] != "cut":
                self.assertEqual(client.rest(), b"", "something follows a close")
            return heard
        finally:
            client.close()

    def check(self, cases):
        count = 0
        for number, frames, expected in cases:
            count += 1
            with self.subTest(case=number):
                codes = expected[-1] if expected and isinstance(expected[-1], set) else None
                heard = self.hear(number, frames, codes is None)
                if codes is None:
                    self.assertEqual(heard, expected)
                    continue
                # Who sends more than is read may lose the close to a reset, but nothing else.
                if heard[-1] == "cut" and codes == TOO_LARGE:
                    heard[-1] = ("close", 1009)
                # A violation may be found before what came before it was answered, as the catalogue allows.
                self.assertEqual(heard[:-1], expected[:len(heard) - 1])
                self.assertEqual(heard[-1][0], "close", heard)
                self.assertIn(heard[-1][1], codes)
        return count

    def test_the_catalogue(self):
        counts = [self.check(section()) for section in SECTIONS]
        self.assertEqual(counts, [16, 11, 7, 10, 20, 145, 37, 1])
        self.assertEqual(sum(counts), 247)
        print("%d cases" % sum(counts))

    def test_beyond_the_catalogue(self):
        self.check(own())

    def test_a_client_masks(self):
        for data in (b"\x81\x02{}", b"\x89\x00", b"\x88\x00"):
            client = Client(self.trainwatch.url, "mask")
            client.send_bytes(data)
            self.assertEqual(client.heard(), [("close", 1002)])
            client.close()

    def test_lengths_are_minimal_and_possible(self):
        for data in (b"\x81\xfe\x00\x05" + bytes(9), b"\x81\xff" + struct.pack(">Q", 200) + bytes(204),
                     b"\x81\xff" + struct.pack(">Q", 1 << 63) + bytes(4),
                     b"\x81\xff" + struct.pack(">Q", (1 << 64) - 1) + bytes(4)):
            client = Client(self.trainwatch.url, "length")
            client.send_bytes(data)
            self.assertIn(client.heard(), ([("close", 1002)], [("close", 1009)]), data)
            client.close()
        self.assertTrue(self.trainwatch.alive())


class MessageRateTest(harness.JobTest):
    def test_a_client_that_sends_too_often_inside_a_message(self):
        """The server closes while it reads a message, and takes the rest of that for itself."""
        chance = random.Random(1)
        with harness.Trainwatch(self.directory) as trainwatch:
            for pings in range(20, 25):
                for pieces_behind in range(1, 6):
                    frames = [Frame(TEXT, b"[", fin=False)] + [Frame(PING, bytes(9))] * pings
                    frames += [Frame(CONTINUE, b" ", fin=False), Frame(PING, bytes(9))]
                    frames += [Frame(CONTINUE, b" ", fin=False)] * pieces_behind + [Frame(PING, b"")]
                    client = Client(trainwatch.url, pings)
                    client.send_bytes(b"".join(frame.encoded(chance) for frame in frames))
                    self.assertIn(client.heard()[-1], (("close", 1008), "cut"))
                    client.close()
            self.assertTrue(trainwatch.alive())


if __name__ == "__main__":
    harness.main()
