"""Edits of existing files that go with the overlay."""
import re


def apply(m):
    m.edit('CMakeLists.txt', [('include(cmake/Assets.cmake)\n', 'include(cmake/Assets.cmake)\n')])
    text = m.read('cmake/Room.cmake')
    text += '''
# The arrows between sub-rooms, which no include path can keep: looked at before anything is compiled.
function(dossier_check_rooms)
  if(NOT Python3_FOUND)
    message(STATUS "no Python: the arrows between sub-rooms are not checked")
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/*.cc src/*.h testing/*.h testing/*.cc)
  set(stamp ${CMAKE_BINARY_DIR}/rooms.stamp)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${Python3_EXECUTABLE} -I ${CMAKE_SOURCE_DIR}/scripts/rooms check ${stamp}
    DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/CMakeLists.txt ${CMAKE_SOURCE_DIR}/scripts/rooms
    COMMENT "Checking the arrows between rooms" VERBATIM)
  add_custom_target(dossier_rooms DEPENDS ${stamp})
  add_dependencies(dossier_base dossier_rooms)
endfunction()
'''
    m.write('cmake/Room.cmake', text)
    text = m.read('CMakeLists.txt')
    anchor = '\ndossier_program(dossier SOURCES'
    if text.count(anchor) != 1:
        raise SystemExit('move: CMakeLists.txt: no single dossier_program(dossier SOURCES')
    m.write('CMakeLists.txt', text.replace(anchor, 'dossier_check_rooms()\n' + anchor))
    m.edit('tests/CMakeLists.txt', [
        ('add_test(NAME acceptance\n',
         '# The borders of the rooms, and the page that draws them.\n'
         'add_test(NAME rooms\n'
         '  COMMAND ${DOSSIER_SYSTEM_PYTHON} -I ${CMAKE_SOURCE_DIR}/scripts/rooms check)\n'
         'add_test(NAME architecture_page\n'
         '  COMMAND ${DOSSIER_SYSTEM_PYTHON} -I ${CMAKE_SOURCE_DIR}/scripts/rooms map --check)\n'
         'set_tests_properties(rooms architecture_page PROPERTIES TIMEOUT 60)\n'
         '\n'
         'add_test(NAME acceptance\n')])
    text = m.read('CONTRIBUTING.md')
    section = re.compile(r'## Modules\n.*?\n(?=`workers/python` is the other side)', re.S)
    if not section.search(text):
        raise SystemExit('move: CONTRIBUTING.md: no section Modules')
    text = section.sub('''## Rooms

One folder each under `src/`, cut into sub-rooms of at most 40 files; one entry each in `CMakeLists.txt`, bottom
first, which names the sub-rooms (bottom first, too) and the rooms it uses. The include path of a room holds
only those, so a forbidden include does not compile; `scripts/rooms check`, which the build runs first, refuses
an include that goes up between sub-rooms. [docs/architecture.md](docs/architecture.md) has the map, the way of
one `ask` and of one `chat` turn, and two lines for each room; each room's `README.md` names its entry points.

A new source lies in the sub-room of what it belongs to. After a new arrow between rooms, run `scripts/rooms map`
(a test compares the page). `scripts/rooms measure` counts files and lines. `testing/` holds what tests share.

''', text)
    text = text.replace('compile sources of a module together where', 'compile sources of a room together where')
    text = text.replace("For daily work build one module's tests only:", "For daily work build one room's tests only:")
    m.write('CONTRIBUTING.md', text)
    text = m.read('docs/decisions/README.md')
    row = '| [research-overlay]'
    if row in text:
        text = text.replace(row, '| [rooms](rooms.md) | how the code is laid out, and what keeps it so |\n' + row)
    m.write('docs/decisions/README.md', text)
    m.edit('docs/decisions/unity-builds.md', [('`cmake/Module.cmake`', '`cmake/Room.cmake`')])
    text = m.read('CHANGELOG.md')
    found = re.search(r'^## Unreleased.*?\n### Changed\n\n', text, re.M | re.S)
    if found:
        text = text[:found.end()] + ('- The code is laid out in rooms and sub-rooms with borders that the build keeps; docs/architecture.md\n'
                                     '  draws them. `ask`, `chat` and `agents` are named as their commands in the code, too.\n') + text[found.end():]
        m.write('CHANGELOG.md', text)
    else:
        print('move: no entry made in CHANGELOG.md')
