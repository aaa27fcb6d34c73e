"""The target map of src/: reads rooms.txt and gives every file of a checkout its new place."""
import re
from pathlib import Path

SOURCE_SUFFIXES = ('.h', '.cc', '.S', '.inc')
OLD_ROOMS = {'ask': 'recursion', 'chat': 'conversation', 'agents': 'harness'}
# Fixtures of tests, by name.
FIXTURE = re.compile(r'(_for_test|^test_prompts|^test_repository|^session_fixture|^isolation_harness)$')


def read_map(path):
    """{room: [(sub, [old stem with its module])]}, in order."""
    rooms, room = {}, None
    for line in path.read_text().splitlines():
        line = line.split('#')[0].strip()
        if not line:
            continue
        opened = re.fullmatch(r'\[(\w+)\](?: \w+)?', line)
        if opened:
            room = opened[1]
            rooms[room] = []
            continue
        sub, stems = line.split(':', 1)
        old = OLD_ROOMS.get(room, room)
        rooms[room].append((sub.strip(), [s if '/' in s else f'{old}/{s}' for s in stems.split()]))
    return rooms


INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def guess(stem, files, root, rooms, home):
    """Where a stem that the map does not name fits: with the lowest of its users, above all that it includes."""
    module = stem.split('/')[0]
    room = {old: new for new, old in OLD_ROOMS.items()}.get(module, module)
    order = [('' if sub == '.' else sub) for sub, _ in rooms.get(room, [])]
    mine = [f for f in files if f.rsplit('.', 1)[0] in (stem, stem + '_test')]
    lowest, highest = 0, len(order)
    for f in files:
        if f.split('/')[0] != module or f.endswith('_test.cc') or FIXTURE.search(f.rsplit('/')[-1].rsplit('.', 1)[0]):
            continue
        for name in INCLUDE.findall((Path(root) / 'src' / f).read_text(encoding='utf-8')):
            there = home.get(name.rsplit('.', 1)[0])
            here = home.get(f.rsplit('.', 1)[0])
            if f in mine and there and there[0] == room:
                lowest = max(lowest, order.index(there[1]))
            if name == stem + '.h' and f not in mine and here and here[0] == room:
                highest = min(highest, order.index(here[1]))
    if not order or lowest > highest:
        return None
    return room, order[lowest if highest == len(order) else highest]


def place_files(files, rooms, root=None):
    """({old path: new path}, [errors]) for the old paths under src/ (relative to src/)."""
    home, errors = {}, []
    for room, subs in rooms.items():
        for sub, stems in subs:
            for stem in stems:
                if stem in home:
                    errors.append(f'{stem} stands twice in the map')
                home[stem] = (room, '' if sub == '.' else sub)
    have = {f.rsplit('.', 1)[0] for f in files}
    for stem in home:
        if stem not in have:
            errors.append(f'note: {stem} is in the map and not in the tree')
    placed = {}
    for f in sorted(files):
        stem, name = f.rsplit('.', 1)[0], f.rsplit('/', 1)[-1]
        module = f.split('/')[0]
        if f == 'main.cc':
            placed[f] = 'src/main.cc'
            continue
        if f.startswith('assembly/table/'):
            placed[f] = 'src/assembly/table/' + name
            continue
        if f.startswith('tokens/table/'):
            placed[f] = 'src/tokens/table/' + name
            continue
        base = name.rsplit('.', 1)[0]
        if FIXTURE.search(base) or module == 'testing':
            placed[f] = 'testing/' + name
            continue
        found = home.get(stem) or home.get(re.sub(r'_test$', '', stem))
        if not found:  # a source or test of a longer name than its header's
            for known in sorted(home, key=len, reverse=True):
                if stem.startswith(known + '_') and f.endswith('.cc'):
                    found = home[known]
                    break
        if not found and root:
            bare = re.sub(r'_test$', '', stem)
            bare = bare if bare in have else stem
            found = guess(bare, files, root, rooms, home)
            if found:
                home[bare] = found
                errors.append(f'note: {bare} is not in rooms.txt; it goes with its lowest user to {"/".join(filter(None, found))}')
        if not found:
            errors.append(f'{f}: no place in rooms.txt')
            continue
        room, sub = found
        placed[f] = '/'.join(p for p in ('src', room, sub, name) if p)
    taken = {}
    for old, new in placed.items():
        if new in taken:
            errors.append(f'{old} and {taken[new]} would both be {new}')
        taken[new] = old
    return placed, errors


def tree_files(root):
    src = Path(root) / 'src'
    return [p.relative_to(src).as_posix() for p in src.rglob('*') if p.suffix in SOURCE_SUFFIXES]
