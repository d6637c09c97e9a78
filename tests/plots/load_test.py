import math
import unittest

from support import InDirectory

import load


class Table(InDirectory):
    KINDS = {"gamma": load.AXIS, "mean": load.NUMBER, "note": load.TEXT}

    def table(self, text):
        path = self.directory / "data.csv"
        path.write_text(text, encoding="utf-8")
        return load.table(path, self.KINDS)

    def refused(self, text, *words):
        with self.assertRaises(load.BadFile) as caught:
            self.table(text)
        for word in ("data.csv", *words):
            self.assertIn(word, str(caught.exception))

    def test_columns_are_typed_and_further_columns_are_ignored(self):
        table = self.table("note,extra,mean,gamma\nfirst,?,1.5,3\n,?,,unbounded\n")
        self.assertEqual(table["gamma"].tolist(), [3.0, math.inf])
        self.assertEqual(table["mean"][0], 1.5)
        self.assertTrue(math.isnan(table["mean"][1]))
        self.assertEqual(table["note"].tolist(), ["first", ""])

    def test_an_axis_with_a_word_is_text_and_keeps_the_order_of_the_file(self):
        table = self.table("gamma,mean,note\nzeta,1,\nalpha,2,\nzeta,3,\n")
        self.assertEqual(table.values("gamma"), ["zeta", "alpha"])
        self.assertEqual(table.where(gamma="zeta")["mean"].tolist(), [1, 3])

    def test_the_values_of_a_number_axis_rise(self):
        self.assertEqual(self.table("gamma,mean,note\n7,1,\n3,2,\n7,3,\n").values("gamma"), [3, 7])

    def test_a_missing_column_is_named_beside_those_there_are(self):
        self.refused("gamma,note\n1,\n", "no column mean", "it has gamma, note")

    def test_an_empty_file_and_a_header_alone_are_refused(self):
        self.refused("", "is empty")
        self.refused("gamma,mean,note\n", "no rows")

    def test_a_cell_that_is_no_number_is_named_with_its_line_and_column(self):
        self.refused("gamma,mean,note\n1,2,\n2,x7,\n", "line 3: mean: 'x7' is not a number")

    def test_an_axis_cell_without_a_value_is_refused(self):
        self.refused("gamma,mean,note\n1,2,\n,2,\n", "line 3: gamma: '' is no value of an axis")
        self.refused("gamma,mean,note\nnan,2,\n", "line 2: gamma: 'nan' is no value of an axis")

    def test_a_torn_row_is_refused_with_its_line(self):
        self.refused("gamma,mean,note\n1,2,\n2,3\n", "line 3 has 2 cells, the header 3")

    def test_bytes_that_are_not_text_are_refused(self):
        (self.directory / "data.csv").write_bytes(b"gamma,mean\n\xff\xfe,1\n")
        with self.assertRaisesRegex(load.BadFile, "data.csv: cannot be read"):
            load.table(self.directory / "data.csv", self.KINDS)

    def test_a_missing_file_is_said_to_be_missing(self):
        with self.assertRaisesRegex(load.BadFile, "nowhere.csv: is missing"):
            load.table(self.directory / "nowhere.csv", self.KINDS)


class Document(InDirectory):
    def document(self, text):
        path = self.directory / "manifest.json"
        path.write_text(text, encoding="utf-8")
        return load.manifest(self.directory)

    def test_the_known_schema_version_is_read(self):
        self.assertEqual(self.document('{"schema": "foredraft.sweep_result/1", "seed": 1}')["seed"], 1)

    def test_no_manifest_is_none(self):
        self.assertIsNone(load.manifest(self.directory))

    def test_another_version_another_project_and_no_schema_are_refused_by_name(self):
        for schema in ("foredraft.sweep/2", "foredraft.sweep/11", "other.sweep/1", "xforedraft.sweep/1"):
            with self.assertRaisesRegex(load.BadFile, f'manifest.json: unknown schema "{schema}"'):
                self.document(f'{{"schema": "{schema}"}}')
        with self.assertRaisesRegex(load.BadFile, r"unknown schema null \(these plots read foredraft\.\*/1\)"):
            self.document("{}")

    def test_what_is_not_a_json_object_is_refused(self):
        with self.assertRaisesRegex(load.BadFile, "cannot be read"):
            self.document('{"schema": ')
        with self.assertRaisesRegex(load.BadFile, "not a JSON object"):
            self.document("[1]")


if __name__ == "__main__":
    unittest.main()
