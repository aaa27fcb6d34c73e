import unittest

from base import WorkerTest


class OutTest(WorkerTest):
    features = {"out_dir": True}

    def written(self, code: str) -> dict[str, bytes]:
        self.host.files = {}
        self.printed(code)
        return self.host.files

    def test_every_way_to_write_a_file_does(self) -> None:  # REC-83
        for code in ("save_file('a.txt', 'é')", "save_file('/out/a.txt', 'é'.encode())",
                     "with open('/out/a.txt', 'w') as f: f.write('é')",
                     "with open('out/a.txt', 'wb') as f: f.write('é'.encode())",
                     "import pathlib; pathlib.Path('/out/a.txt').write_text('é')",
                     "import io; f = io.open('./out/a.txt', 'x'); print('é', end='', file=f); f.close()",
                     "import os; os.makedirs('/out', exist_ok=True); os.mkdir('out')\n"
                     "with open('out/a.txt', 'w') as f: f.write('')\n"
                     "with open('out/a.txt', 'a') as f: f.write('é')"):
            self.assertEqual(self.written(code), {"a.txt": "é".encode()}, code)

    def test_large_files_go_in_pieces_and_values_as_json(self) -> None:  # REC-83
        files = self.written("save_file('big', b'x' * 2_500_000)\nsave_file('v.json', {'a': [1, None]})\n"
                             "open('/out/empty', 'w').close()")
        self.assertEqual(files["big"], b"x" * 2_500_000)
        self.assertEqual((files["v.json"], files["empty"]), (b'{"a": [1, null]}', b""))
        self.assertEqual(self.host.methods().count("out_file"), 7)

    def test_reading_is_refused_and_other_paths_are_not_ours(self) -> None:  # REC-83
        for mode in ("r", "r+", "rb", "w+", "a+"):
            error = self.error(f"open('/out/a.txt', {mode!r})")
            self.assertEqual(error["type"], "PermissionError", mode)
            self.assertIn("can only be written", error["message"])
        self.assertEqual(self.printed("print(open('log.ndjson').readline()[:7])"), '{"id": \n')


class NoOutTest(WorkerTest):
    def test_without_the_folder_there_is_no_function(self) -> None:  # REC-83
        self.assertEqual(self.printed("print('save_file' in globals())"), "False\n")
        self.assertEqual(self.error("open('/out/a.txt', 'w')")["type"], "FileNotFoundError")


if __name__ == "__main__":
    unittest.main()
