# SPDX-License-Identifier: Apache-2.0
import math
import os
import socket
import tracemalloc
import unittest

from support import InDirectory

from plots import load


class Table(InDirectory):
    KINDS = {"gamma": load.AXIS, "mean": load.NUMBER, "note": load.TEXT}

    def table(self, text):
        path = self.directory / "data.csv"
        path.write_text(text, encoding="utf-8")
        return load.table(path, self.KINDS)

    def rejected(self, text, *words):
        with self.assertRaises(load.BadFile) as caught:
            self.table(text)
        for word in ("data.csv", *words):
            self.assertIn(word, str(caught.exception))

    def test_columns_are_typed_and_further_columns_are_ignored(self):
        table = self.table("note,extra,mean,gamma\nfirst,?,1.5,3\n,?,,unbounded\n,?,,inf\n")
        self.assertEqual(table["gamma"].tolist(), [3.0, math.inf, math.inf])
        self.assertEqual(table["mean"][0], 1.5)
        self.assertTrue(math.isnan(table["mean"][1]))
        self.assertEqual(table["note"].tolist(), ["first", "", ""])

    def test_an_axis_with_a_word_is_text_and_keeps_the_order_of_the_file(self):
        table = self.table("gamma,mean,note\nzeta,1,\nalpha,2,\nzeta,3,\n")
        self.assertEqual(table.values("gamma"), ["zeta", "alpha"])
        self.assertEqual(table.where(gamma="zeta")["mean"].tolist(), [1, 3])

    def test_the_values_of_a_number_axis_rise(self):
        self.assertEqual(self.table("gamma,mean,note\n7,1,\n3,2,\n7,3,\n").values("gamma"), [3, 7])

    def test_a_missing_column_is_named_beside_those_there_are(self):
        self.rejected("gamma,note\n1,\n", "no column mean", "it has gamma, note")

    def test_an_empty_file_and_a_header_alone_are_rejected(self):
        self.rejected("", "is empty")
        self.rejected("gamma,mean,note\n", "no rows")

    def test_a_cell_that_is_no_number_is_named_with_its_line_and_column(self):
        self.rejected("gamma,mean,note\n1,2,\n2,x7,\n", "line 3: mean: 'x7' is not a number")

    def test_an_axis_cell_without_a_value_is_rejected(self):
        self.rejected("gamma,mean,note\n1,2,\n,2,\n", "line 3: gamma: '' is no value of an axis")
        self.rejected("gamma,mean,note\nnan,2,\n", "line 2: gamma: 'nan' is no value of an axis")

    def test_a_torn_row_is_rejected_with_its_line(self):
        self.rejected("gamma,mean,note\n1,2,\n2,3\n", "line 3 has 2 cells, the header 3")

    def test_bytes_that_are_not_text_are_rejected(self):
        (self.directory / "data.csv").write_bytes(b"gamma,mean\n\xff\xfe,1\n")
        with self.assertRaisesRegex(load.BadFile, "data.csv: cannot be read"):
            load.table(self.directory / "data.csv", self.KINDS)

    def test_a_missing_file_is_said_to_be_missing(self):
        with self.assertRaisesRegex(load.BadFile, "nowhere.csv: is missing"):
            load.table(self.directory / "nowhere.csv", self.KINDS)


class HostileFiles(InDirectory):
    READERS = {"table": lambda path: load.table(path, {"gamma": load.AXIS}), "rows": lambda path: list(load.rows(path)),
               "document": lambda path: load.document(path, "foredraft.figure/1"), "text": load.text,
               "content": load.content}

    def rejected(self, path, message, readers=tuple(READERS)):
        for reader in readers:
            with self.subTest(reader), self.assertRaises(load.BadFile) as caught:
                self.READERS[reader](path)
            self.assertEqual(str(caught.exception), f"{path}: {message}")

    def test_a_link_is_an_error_wherever_it_leads(self):
        (self.directory / "data").write_text("gamma\n1\n", encoding="utf-8")
        for target in ("data", "/etc/passwd", "/dev/zero", "nowhere", "manifest.json"):
            path = self.directory / "manifest.json"
            path.symlink_to(target)
            self.rejected(path, "is a link; links in a results folder are not followed")
            with self.assertRaisesRegex(load.BadFile, "is a link"):
                load.manifest(self.directory)
            path.unlink()

    def test_what_is_no_regular_file_is_an_error_and_a_pipe_does_not_wait(self):
        os.mkfifo(self.directory / "pipe")
        self.rejected(self.directory / "pipe", "is not a regular file")
        (self.directory / "folder").mkdir()
        self.rejected(self.directory / "folder", "cannot be read (Is a directory)")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(self.directory / "socket"))
            self.rejected(self.directory / "socket", "cannot be read (No such device or address)")

    def test_what_is_held_in_memory_and_what_is_streamed_has_an_upper_bound(self):
        path = self.directory / "large"
        path.touch()
        os.truncate(path, (64 << 20) + 1)  # sparse: no disk space is taken
        self.rejected(path, "is larger than 64 MiB", ("table", "document", "text", "content"))
        os.truncate(path, (16 << 30) + 1)
        self.rejected(path, "is larger than 16384 MiB", ("rows",))

    def test_a_row_without_an_end_is_not_held_in_memory(self):
        path = self.directory / "data.csv"
        for content in ("a," * (1 << 19) + "a", '"\n",' * (1 << 18) + "a"):
            path.write_text("gamma\n" + content, encoding="utf-8")
            self.rejected(path, "has a row of more than 1048576 characters", ("rows", "table"))

    def test_rows_are_counted_without_holding_them(self):
        path = self.directory / "points.csv"
        path.write_text("gamma,mean\n" + "1,2.5\n" * 20_000, encoding="utf-8")  # held: more than 4 MiB
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.assertEqual(sum(1 for _ in load.rows(path)), 20_001)
        self.assertLess(tracemalloc.get_traced_memory()[1], 1 << 20)

    def test_json_that_no_document_holds_is_an_error(self):
        path = self.directory / "deep.json"
        for opening, closing in ("[", "]"), ('{"a":', "}"):
            for depth in (64, 65, 900, 100_000):
                path.write_text('{"schema": "foredraft.figure/1", "a": ' + opening * (depth - 1) + "0"
                                + closing * (depth - 1) + "}", encoding="utf-8")
                if depth == 64:
                    load.document(path, "foredraft.figure/1")
                else:
                    self.rejected(path, "cannot be read (nested deeper than 64)", ("document",))
        path.write_text('{"a": ' + "1" * 5000 + "}", encoding="utf-8")
        with self.assertRaisesRegex(load.BadFile, "deep.json: cannot be read"):
            load.document(path, "foredraft.figure/1")


class Document(InDirectory):
    def document(self, text):
        path = self.directory / "manifest.json"
        path.write_text(text, encoding="utf-8")
        return load.manifest(self.directory)

    def test_the_known_schema_version_is_read(self):
        self.assertEqual(self.document('{"schema": "foredraft.sweep_result/1", "seed": 1}')["seed"], 1)

    def test_no_manifest_is_none(self):
        self.assertIsNone(load.manifest(self.directory))

    def test_another_version_another_project_and_no_schema_are_rejected_by_name(self):
        for schema in ("foredraft.sweep/2", "foredraft.sweep/11", "other.sweep/1", "xforedraft.sweep/1"):
            with self.assertRaisesRegex(load.BadFile, f'manifest.json: unknown schema "{schema}"'):
                self.document(f'{{"schema": "{schema}"}}')
        with self.assertRaisesRegex(load.BadFile, r"unknown schema null \(these plots read foredraft\.\*/1\)"):
            self.document("{}")

    def test_what_is_not_a_json_object_is_rejected(self):
        with self.assertRaisesRegex(load.BadFile, "cannot be read"):
            self.document('{"schema": ')
        with self.assertRaisesRegex(load.BadFile, "not a JSON object"):
            self.document("[1]")


if __name__ == "__main__":
    unittest.main()
