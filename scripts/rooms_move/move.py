#!/usr/bin/env python3
"""Moves the sources of a checkout of main into rooms, one commit a step.

    python3 move.py CHECKOUT [--no-commit] [--from STEP] [--to STEP]

The map is rooms.txt beside this file. A source or test whose header is mapped goes with it; any other file
that the map does not name is an error that names it (add its stem to rooms.txt). Needs clang-format 19 as
`clang-format-19` on the PATH. The checkout must be clean.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import rooms as R

HERE = Path(__file__).resolve().parent
INCLUDE = re.compile(r'^(\s*#\s*include ")([^"]+)(")', re.M)
MODULES = {old: new for new, old in R.OLD_ROOMS.items()}
CODE = ('.cc', '.h', '.inc', '.S')


class Mover:
    def __init__(self, root, commit):
        self.root = Path(root).resolve()
        self.commit = commit
        self.rooms = R.read_map(HERE / 'rooms.txt')

    # --- helpers

    def git(self, *args):
        return subprocess.run(['git', *args], cwd=self.root, check=True, text=True, stdout=subprocess.PIPE).stdout

    def tracked(self):
        return [f for f in self.git('ls-files').split('\n') if f and (self.root / f).is_file()]

    def read(self, path):
        return (self.root / path).read_text(encoding='utf-8')

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding='utf-8')

    def edit(self, path, edits):
        """Exact replacements; each old text must stand there once at least."""
        text = self.read(path)
        for old, new in edits:
            if old not in text:
                sys.exit(f'move: {path} has changed; no such text:\n{old}')
            text = text.replace(old, new)
        self.write(path, text)

    def code_files(self):
        return [f for f in self.tracked() if f.endswith(CODE) and
                f.split('/')[0] in ('src', 'testing', 'tests', 'fuzz', 'bench', 'workers', 'cmake')]

    def each(self, files, change):
        """Runs change(text, path) over files; returns those that changed."""
        changed = []
        for f in files:
            try:
                text = self.read(f)
            except UnicodeDecodeError:
                continue
            new = change(text, f)
            if new != text:
                self.write(f, new)
                changed.append(f)
        return changed

    def format(self, files):
        files = [f for f in files if f.endswith(('.cc', '.h'))]
        tool = shutil.which('clang-format-19') or 'clang-format'
        for i in range(0, len(files), 100):
            subprocess.run([tool, '-i', *files[i:i + 100]], cwd=self.root, check=True)

    def save(self, message):
        if self.commit:
            self.git('add', '-A')
            self.git('commit', '-q', '-m', message)
        print('step:', message.split('\n')[0])

    # --- the steps

    def place(self):
        files = [f[len('src/'):] for f in self.tracked() if f.startswith('src/') and f.endswith(R.SOURCE_SUFFIXES)]
        odd = [f for f in self.tracked() if f.startswith('src/') and not f.endswith(R.SOURCE_SUFFIXES)]
        placed, errors = R.place_files(files, self.rooms, self.root)
        for e in errors:
            print('move:', e, file=sys.stderr)
        if odd:
            sys.exit(f'move: not a source, no rule: {odd}')
        if any(not e.startswith('note:') for e in errors):
            sys.exit(1)
        return placed

    def step_files(self):
        placed = self.place()
        for old, new in placed.items():
            if 'src/' + old != new:
                (self.root / new).parent.mkdir(parents=True, exist_ok=True)
                os.rename(self.root / 'src' / old, self.root / new)
        for folder in sorted((self.root / 'src').glob('**/'), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()
        self.git('add', '-A')
        paths = {old: new.removeprefix('src/') for old, new in placed.items()}

        def includes(text, _):
            return INCLUDE.sub(lambda m: m[1] + paths.get(m[2], m[2]) + m[3], text)
        changed = self.each(self.code_files(), includes)
        self.format(changed)
        self.build_files(paths)
        (HERE / 'paths.txt').write_text(''.join(f'{a} {b}\n' for a, b in sorted(paths.items())))
        self.save('layout: sources move into rooms of at most 40 files\n\n'
                  'Only `git mv`, and what a build needs: the paths of #include lines (in order again) and of\n'
                  'CMake. The map puts each file where its arrows go down, between rooms and between the\n'
                  'sub-rooms of one.')

    def build_files(self, paths):
        text = self.read('CMakeLists.txt')

        def subrooms(room):
            return [sub for sub, _ in self.rooms.get(room, [])]

        def module(match):
            words = match[1].split()
            name = MODULES.get(words[0], words[0])
            rest = [MODULES.get(w, w) for w in words[1:]]
            if name == 'base':
                rest += ['yaml', 'curl_headers']
            if name == 'cli':
                rest.insert(rest.index('LIBRARIES'), 'app')
            head = []
            while rest and rest[0] in ('COLD', 'PRECOMPILED'):
                head += [rest.pop(0)] + ([rest.pop(0)] if head[-1:] == ['PRECOMPILED'] or rest and rest[0].endswith('.h') else [])
            subs = subrooms(name)
            lines = [f'dossier_room({" ".join([name, *head])}']
            if subs and subs != ['.']:
                lines.append('  SUBROOMS ' + ' '.join(subs))
            groups, key = [], None
            for w in rest:
                if w.isupper():
                    groups.append([w])
                else:
                    groups[-1].append(w)
            lines += ['  ' + ' '.join(g) for g in groups]
            return '\n'.join(lines) + ')' if len(lines) > 1 else lines[0] + ')'
        text = re.sub(r'dossier_module\(([^)]*)\)', module, text)
        if 'dossier_room(app' not in text:
            uses = re.search(r'dossier_room\(cli [^)]*USES ([^\n]*?) app', text, re.S)[1]
            uses = ' '.join(w for w in uses.split() if w not in ('agents', 'chat', 'ask', 'research', 'sandbox'))
            text = text.replace('dossier_room(cli', f'dossier_room(app COLD\n  USES {uses})\ndossier_room(cli', 1)
        head = re.compile(r'# One line a module.*?does not compile\.\n', re.S)
        if not head.search(text):
            sys.exit('move: the comment over the modules in CMakeLists.txt has changed')
        text = head.sub(
            '# The rooms, bottom first: one may use only rooms above it in this file. Its sources are\n'
            '# src/<room>/*.cc and those of its sub-rooms, its tests the *_test.cc among them. A header of a room\n'
            '# that is not named under USES is not on the include path, so a wrong include does not compile.\n'
            '# SUBROOMS stand bottom first, too: a file may include only what stands before its own sub-room.\n'
            '# `.` is the room\'s own folder, its face: its headers stand there, its sources above all.\n', text)
        text = text.replace('foreach(module sandbox recursion cli)\n  if(TARGET ${module}_test)\n    add_dependencies(${module}_test',
                            'foreach(room sandbox ask cli)\n  if(TARGET ${room}_test)\n    add_dependencies(${room}_test')
        self.write('CMakeLists.txt', text)
        self.edit('cmake/Module.cmake', [
            ('# dossier_module(NAME USES other modules… LIBRARIES third-party names… TEST_LIBRARIES those of its test)\n'
             '#\n'
             '# Makes the static library dossier_NAME from src/NAME/*.cc and, if there are tests, the program\n'
             '# NAME_test from src/NAME/*_test.cc. `#include "other/x.h"` compiles only if `other` is used,\n'
             '# directly or through a used module. PRECOMPILED names a header in cmake/ that the module precompiles\n'
             '# instead of sharing that of base.',
             '# dossier_room(NAME SUBROOMS folders… USES other rooms… LIBRARIES third-party names… TEST_LIBRARIES\n'
             '# those of its test)\n'
             '#\n'
             '# Makes the static library dossier_NAME from the sources in src/NAME and its SUBROOMS and, if there are\n'
             '# tests, the program NAME_test from the *_test.cc among them. `#include "other/x.h"` compiles only if\n'
             '# `other` is used, directly or through a used room. The room `testing` lies beside src. PRECOMPILED\n'
             '# names a header in cmake/ that the room precompiles instead of sharing that of base.'),
            ('${CMAKE_SOURCE_DIR}/src ${ARGN}', '${CMAKE_SOURCE_DIR} ${ARGN}'),
            ('function(_dossier_use target)\n  foreach(module ${ARGN})\n    target_link_libraries(${target} PUBLIC dossier_${module})',
             'function(_dossier_use target)\n  foreach(room ${ARGN})\n    target_link_libraries(${target} PUBLIC dossier_${room})'),
            ('# The include folder of a module holds one link, to the module itself.\n'
             'function(_dossier_include_folder name out)',
             '# Where the sources of a room lie.\n'
             'function(_dossier_home name out)\n'
             '  if(name STREQUAL "testing")\n'
             '    set(${out} ${CMAKE_SOURCE_DIR}/testing PARENT_SCOPE)\n'
             '  else()\n'
             '    set(${out} ${CMAKE_SOURCE_DIR}/src/${name} PARENT_SCOPE)\n'
             '  endif()\n'
             'endfunction()\n'
             '\n'
             '# The include folder of a room holds one link, to the room itself.\n'
             'function(_dossier_include_folder name home out)'),
            ('file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${name} ${folder}/${name} SYMBOLIC)',
             'file(CREATE_LINK ${home} ${folder}/${name} SYMBOLIC)'),
            ('function(dossier_module name)\n'
             '  cmake_parse_arguments(ARG "COLD" "PRECOMPILED" "USES;LIBRARIES;TEST_LIBRARIES" ${ARGN})\n'
             '  file(GLOB sources CONFIGURE_DEPENDS src/${name}/*.cc src/${name}/*.S)\n',
             'function(dossier_room name)\n'
             '  cmake_parse_arguments(ARG "COLD" "PRECOMPILED" "SUBROOMS;USES;LIBRARIES;TEST_LIBRARIES" ${ARGN})\n'
             '  _dossier_home(${name} home)\n'
             '  set(patterns ${home}/*.cc ${home}/*.S)\n'
             '  foreach(subroom ${ARG_SUBROOMS})\n'
             '    if(NOT subroom STREQUAL ".")\n'
             '      list(APPEND patterns ${home}/${subroom}/*.cc ${home}/${subroom}/*.S)\n'
             '    endif()\n'
             '  endforeach()\n'
             '  file(GLOB sources CONFIGURE_DEPENDS ${patterns})\n'),
            ('_dossier_include_folder(${name} folder)', '_dossier_include_folder(${name} ${home} folder)'),
            ('  foreach(module ${ARG_USES})\n    target_link_libraries(${name} PRIVATE dossier_${module})',
             '  foreach(room ${ARG_USES})\n    target_link_libraries(${name} PRIVATE dossier_${room})'),
        ])
        self.git('mv', 'cmake/Module.cmake', 'cmake/Room.cmake')
        self.edit('CMakeLists.txt', [('include(cmake/Module.cmake)', 'include(cmake/Room.cmake)')])
        self.edit('cmake/unity_groups.py', [
            ('    unity_groups.py INCLUDE_ROOT SOURCE...', '    unity_groups.py REPOSITORY SOURCE...'),
            ('"""Says which sources of a module', '"""Says which sources of a room'),
            ('        path = self.root / name\n        if not path.is_file():\n',
             '        path = self.root / "src" / name\n        if name.startswith("testing/"):\n'
             '            path = self.root / name\n        if not path.is_file():\n'),
        ])
        self.edit('cmake/YamlTable.cmake', [
            ('src/assembly/layout/yaml_table.h', 'src/assembly/layout/yaml_table.h'),
            ('  # A copy of the parser: dossier_assembly itself needs the output.\n'
             '  add_executable(dossier-yaml-table src/assembly/table/main.cc src/assembly/layout/front_matter.cc\n'
             '    src/base/yaml/yaml_reader.cc src/base/yaml/yaml_tree.cc)\n'
             '  target_link_libraries(dossier-yaml-table PRIVATE dossier_base dep_yaml)\n',
             '  # Without dossier_assembly, which itself needs the output.\n'
             '  add_executable(dossier-yaml-table src/assembly/table/main.cc src/assembly/layout/front_matter.cc)\n'
             '  target_link_libraries(dossier-yaml-table PRIVATE dossier_base)\n'),
        ])
        self.edit('fuzz/CMakeLists.txt', [
            ('# One libFuzzer program for each fuzz/NAME_fuzz.cc. It links the modules whose headers it includes, so\n',
             '# One libFuzzer program for each fuzz/NAME_fuzz.cc. It links the rooms whose headers it includes, so\n'),
            ('    target_link_libraries(${name} PRIVATE ${module})\n',
             '    if(module STREQUAL "dossier_testing")  # headers only: what it links has a main of its own\n'
             '      target_include_directories(${name} PRIVATE ${CMAKE_BINARY_DIR}/include/testing)\n'
             '    else()\n'
             '      target_link_libraries(${name} PRIVATE ${module})\n'
             '    endif()\n'),
        ])
        bench = self.read('bench/CMakeLists.txt')
        for old, new in MODULES.items():
            bench = bench.replace(f'dossier_{old}', f'dossier_{new}')
        bench = bench.replace('set_target_properties(dossier_bench',
                              '# Rigs of the tests: headers only.\n'
                              'target_include_directories(dossier_bench PRIVATE ${CMAKE_BINARY_DIR}/include/testing)\n'
                              'set_target_properties(dossier_bench', 1)
        self.write('bench/CMakeLists.txt', bench)
        for f in ('tests/CMakeLists.txt', 'cmake/Assets.cmake', 'cmake/TokenTables.cmake'):
            text = self.read(f)
            for old, new in MODULES.items():
                text = text.replace(f'dossier_{old} ', f'dossier_{new} ').replace(f'dossier_{old})', f'dossier_{new})')
            self.write(f, text)
        new = paths['tokens/split/unicode_tables.inc']
        self.write('scripts/generate-unicode-tables',
                   self.read('scripts/generate-unicode-tables').replace('src/tokens/split/unicode_tables.inc', 'src/' + new))
        walker = 'src/' + paths['research/call/call_sites_test.cc']
        self.edit(walker, [('std::filesystem::directory_iterator(DOSSIER_SOURCE_DIR "/src/research")',
                            'std::filesystem::recursive_directory_iterator(DOSSIER_SOURCE_DIR "/src/research")')])
        self.format([walker])
        self.edit('.clang-tidy', [("HeaderFilterRegex: 'src/.*\\.h$'", "HeaderFilterRegex: '(src|testing)/.*\\.h$'")])

    def step_paths(self):
        """Header guards, and the paths and folders that comments, scripts and pages name."""
        paths = dict(line.split() for line in (HERE / 'paths.txt').read_text().splitlines())

        def guards(text, path):
            found = re.search(r'^#ifndef (DOSSIER_\w+_H_)$', text, re.M)
            if not found or path.split('/')[0] not in ('src', 'testing'):
                return text
            name = re.sub(r'\W', '_', path.removeprefix('src/')).upper()
            return re.sub(rf'\b{found[1]}\b', f'DOSSIER_{name}_', text)
        self.each([f for f in self.code_files() if f.endswith('.h')], guards)

        rooms = '|'.join(sorted({p.split('/')[0] for p in paths if '/' in p}))
        named = re.compile(rf'(?<![\w/.\-])(src/)?((?:{rooms})/\w+)\.(h|cc|inc)\b')

        def mentions(text, path):
            def new(m):
                to = paths.get(f'{m[2]}.{m[3]}')
                if not to:
                    return m[0]
                return to if to.startswith('testing/') or not m[1] else 'src/' + to
            text = named.sub(new, text)
            for old, to in MODULES.items():
                text = re.sub(rf'(?<![\w/])src/{old}\b', f'src/{to}', text)
                text = re.sub(rf'\b{old}_test\b(?=[ `)])', f'{to}_test', text) if path.endswith('.md') else text
            return text
        scanned = [f for f in self.tracked() if f != 'CHANGELOG.md'
                   and not f.startswith(('fuzz/seeds/', 'tests/golden/', 'tests/acceptance/', 'docs/examples/'))
                   and (f.endswith((*CODE, '.cmake', '.md', '.py', 'CMakeLists.txt')) or f.startswith('scripts/'))]
        self.format(self.each(scanned, mentions))
        self.save('layout: header guards and the paths that comments and pages name follow the rooms')

    def step_namespaces(self):
        def names(text, _):
            for old, new in MODULES.items():
                text = re.sub(rf'\bdossier::{old}\b', f'dossier::{new}', text)
                text = re.sub(rf'(?<![\w"/]){old}::(?=\w)', f'{new}::', text)
            return text
        self.format(self.each(self.code_files(), names))
        self.save('layout: the namespaces ask, chat and agents are named as their rooms')

    def step_moved(self):
        """What came from another room takes that room's namespace; ReadYaml is declared where its table is."""
        reader, table = 'src/base/yaml/yaml_reader.h', 'src/assembly/layout/yaml_table.h'
        declared = re.compile(r'// Reads one document; an empty one is a null node\..*?const YamlOptions& options = \{\}\);\n\n'
                              r'// The same, always by parsing\.\n', re.S)
        text = self.read(reader)
        if not declared.search(text):
            sys.exit(f'move: ReadYaml is declared otherwise in {reader}')
        text = declared.sub('// Reads one document; an empty one is a null node. Errors: kConfig, "FILE:LINE:COL: reason".\n', text)
        text = text.replace('YamlNode root, ReadYaml(text,', 'YamlNode root, ParseYaml(text,')
        self.write(reader, text)
        text = self.read(table)
        end = '\n}  // namespace dossier::assembly\n'
        text = text.replace(end, '\n// As ParseYaml. A text that is part of the program was parsed when the program was built, and costs a\n'
                                 '// hundredth.\n'
                                 'Result<YamlNode> ReadYaml(std::string_view text, std::string_view file,\n'
                                 '                          const YamlOptions& options = {});\n' + end, 1)
        if '"base/yaml/yaml_reader.h"' not in text:
            text = self.add_include(text, 'base/yaml/yaml_reader.h')
        self.write(table, text)
        moves = [
            ('assembly', '', 'src/base/yaml/', 'kMaxYamlBytes kMaxYamlNodes YamlNode YamlEntry YamlOptions ParseYaml ToJsonValue '
             'PlaceError AppendNumber AppendTree TakeNumber TakeText TreeOf'),
            ('model', '', ('src/base/net/', 'testing/test_server_for_test.h'), 'CurlApi LoadCurl HttpCall HttpEnd Flow HttpReceiver HttpLoop HttpDownload Url ParseUrl '
             'SseEvent SseParser'),
            ('cli', 'app', 'src/app/', 'SectionReader kNoEmbedModel MemoryConfig ReadMemoryConfig'),
        ]
        changed = set()
        for old, new, home, symbols in moves:
            words = '|'.join(symbols.split())
            inner = f'dossier::{new}' if new else 'dossier'

            def change(text, path):
                if path.startswith(home):
                    text = re.sub(rf'\bdossier::{old}\b', inner, text)
                    return re.sub(rf'\b{old}::(?=(?:{words})\b)', '', text)
                if new:  # its old neighbours named it without a namespace
                    if re.search(rf'namespace dossier::{old}\b', text):
                        text = re.sub(rf'(?<![\w:.>"/])(?<!// )({words})\b(?!\.h)', rf'{new}::\1', text)
                    return text
                text = re.sub(rf'^using {old}::(?:{words});\n', '', text, flags=re.M)
                return re.sub(rf'\b{old}::(?=(?:{words})\b)', '', text)
            changed |= set(self.each(self.code_files(), change))

        def read_yaml(text, path):
            if path not in (reader, table) and path.endswith('.cc') and re.search(r'\bReadYaml\(', text) \
                    and '"assembly/layout/yaml_table.h"' not in text:
                text = self.add_include(text, 'assembly/layout/yaml_table.h')
            return text
        changed |= set(self.each(self.code_files(), read_yaml))
        self.format([reader, table, *changed])
        self.save('base, app: what moved in takes the namespace of its room\n\n'
                  'ReadYaml looks into the table of built-in YAML, which is of assembly: it is declared there.')

    def add_include(self, text, header):
        found = list(re.finditer(r'^#include "[^"]+"\n', text, re.M))
        own = found[1] if len(found) > 1 else None
        line = f'#include "{header}"\n'
        if own:
            return text[:own.start()] + line + text[own.start():]
        if found:
            return text[:found[0].end()] + '\n' + line + text[found[0].end():]
        at = text.index('namespace dossier')
        return text[:at] + line + '\n' + text[at:]

    def step_overlay(self):
        overlay = HERE / 'overlay'
        for f in sorted(p for p in overlay.rglob('*') if p.is_file() and '__pycache__' not in p.parts):
            to = self.root / f.relative_to(overlay)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(f, to)
        sys.path.insert(0, str(HERE))
        import overlay_edits
        overlay_edits.apply(self)
        subprocess.run(['/usr/bin/python3', '-I', 'scripts/rooms', 'map'], cwd=self.root, check=True)
        self.save('layout: the build checks the arrows of the rooms; a page draws them')


STEPS = ['files', 'paths', 'namespaces', 'moved', 'overlay']


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('checkout')
    parser.add_argument('--no-commit', action='store_true')
    parser.add_argument('--from', dest='first', default=STEPS[0], choices=STEPS)
    parser.add_argument('--to', dest='last', default=STEPS[-1], choices=STEPS)
    args = parser.parse_args()
    mover = Mover(args.checkout, not args.no_commit)
    if mover.git('status', '--porcelain', '--untracked-files=no').strip():
        sys.exit('move: the checkout has changes; commit or drop them first')
    for step in STEPS[STEPS.index(args.first):STEPS.index(args.last) + 1]:
        getattr(mover, 'step_' + step)()


main()
