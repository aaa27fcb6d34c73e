"""The rules of scripts/house_rules.py, each broken in a small tree of its own."""

import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

sys.dont_write_bytecode = True
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
HEADER = "// What a thing is for, in a sentence.\n// Thread-safety: pure functions.\n\n"


def load(name, path):
    return SourceFileLoader(name, str(path)).load_module()


class HouseRulesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.rules = load("house_rules", SCRIPTS / "house_rules.py")
        self.rooms = load("rooms", SCRIPTS / "rooms")
        self.rooms.ROOT = self.root
        self.write("CMakeLists.txt", "".join(
            f"dossier_room({name})\n" for name in ("base", "driver", "ask", "chat", "agents", "research", "cli")))
        self.write("cmake/Room.cmake", "UNITY_GROUP ${group} UNITY_BUILD_MODE GROUP\n")
        self.write("docs/decisions/rooms.md", "\n")
        self.write("docs/glossary.md", "| term | meaning | where |\n")
        self.write("scripts/setup", "\n")
        for name in self.rules.LOOPS:
            self.write(f"src/cli/{name}_command.cc", f'Command("{name}");\n')
            self.write(f"src/{name}/face.h", HEADER)
        self.write("src/driver/caller.h", HEADER)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def faults(self, rule):
        return [fault for fault in getattr(self.rules, rule)(self.rooms) if "TWO_MEANINGS" not in fault]

    def breaks(self, rule, words):
        found = self.faults(rule)
        self.assertTrue(any(words in fault for fault in found), f"{rule}: {found}")

    def test_the_small_tree_itself_is_clean(self):
        for rule in self.rules.RULES:
            self.assertEqual(self.faults(rule.__name__), [], rule.__name__)

    def test_a_function_longer_than_a_screen(self):  # HSE-2
        body = "  Do();\n" * 60
        self.write("src/ask/turn.cc", f"namespace a {{\n\nint Two(int n) {{\n  return n;\n}}\n\nvoid One() {{\n{body}}}\n}}\n")
        self.assertEqual(self.faults("long_functions"), ["src/ask/turn.cc:7 has 62 lines; at most 60: void One()"])

    def test_a_room_that_no_plan_or_decision_names(self):  # HSE-1
        self.write("CMakeLists.txt", (self.root / "CMakeLists.txt").read_text() + "dossier_room(misc SUBROOMS . things)\n")
        self.breaks("room_names", "src/misc:")
        self.breaks("room_names", "src/misc/things:")
        self.write("docs/decisions/rooms.md", "`misc` has `things`.\n")
        self.assertEqual(self.faults("room_names"), [])

    def test_a_loop_whose_command_has_another_name(self):  # HSE-1
        self.write("src/cli/ask_command.cc", 'Command("query");\n')
        self.breaks("room_names", "ask: a room and a command")

    def test_a_branch_on_the_size_of_a_model(self):  # HSE-24
        self.write("src/ask/turn.cc", "if (profile == Profile::kSmall) Stop();\n")
        self.breaks("model_policy", "src/ask/turn.cc asks for the size")
        self.write("src/ask/turn.cc", "if (policy.tolerance == ModelSize::kSmall) Stop();\n")
        self.breaks("model_policy", "src/ask/turn.cc branches")

    def test_a_header_that_does_not_say_what_it_is_for_or_in_which_thread(self):  # HSE-30
        self.write("src/ask/face.h", "// Helpers.\n")
        self.breaks("header_comments", "does not begin with a sentence")
        self.breaks("header_comments", "in which threads")

    def test_a_name_with_two_meanings(self):  # HSE-34
        for room in ("ask", "chat"):
            self.write(f"src/{room}/face.h", HEADER + "enum class Source { kOne };\n")
        self.breaks("two_meanings", "Source is declared in ask and chat")
        self.write("docs/glossary.md", "| source (of `ask`) | a |\n| source (of `chat`) | b |\n")
        self.assertEqual(self.faults("two_meanings"), [])

    def test_heavy_headers_and_too_many_units(self):  # HSE-40
        self.write("src/base/net.h", HEADER + "#include <boost/asio.hpp>\n")
        self.breaks("build_cost", "a header of many templates")
        self.rules.MOST_UNITS = 0
        self.breaks("build_cost", "units are compiled")
        self.rules.MOST_BYTES_OF_HEADER = 10
        self.breaks("build_cost", "bytes of headers")

    def test_what_a_change_of_a_source_or_of_a_drivers_header_costs(self):  # HSE-41
        for room in ("ask", "chat"):
            self.write(f"src/{room}/turn.cc", '#include "driver/caller.h"\n')
        self.rules.MOST_UNITS_OF_DRIVER = 1
        self.breaks("build_cost", "src/driver/caller.h reaches 2 units")
        self.rules.MOST_BYTES_OF_UNIT = 10
        self.breaks("build_cost", "src/ask: one unit of")

    def test_a_scanner_of_ones_own_or_a_source_that_includes_another(self):  # HSE-42
        self.write("cmake/groups.py", "out.write(f'#include \"{source}\"\\n')\n")
        self.breaks("unity_by_cmake", "cmake/groups.py writes units")
        self.write("src/ask/all.cc", '#include "ask/turn.cc"\n')
        self.breaks("unity_by_cmake", "includes a source")
        self.write("cmake/Room.cmake", "\n")
        self.breaks("unity_by_cmake", "CMake's own unity builds")


if __name__ == "__main__":
    unittest.main()
