"""python3 plan.py CHECKOUT: what the map would make of a checkout: folder sizes and upward arrows."""
import re, sys
from collections import Counter, defaultdict
from pathlib import Path
import rooms as R
root = Path(sys.argv[1])
here = Path(__file__).parent
m = R.read_map(here / 'rooms.txt')
files = R.tree_files(root)
placed, errors = R.place_files(files, m, root)
for e in errors: print(e)
sizes = Counter(n.rsplit('/', 1)[0] for n in placed.values())
print('folders:', ' '.join(f'{k}={v}' for k, v in sorted(sizes.items())))
print('over 40:', {k: v for k, v in sizes.items() if v > 40})
INC = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)
order = list(m)
rank = {r: i for i, r in enumerate(order)}
up = defaultdict(list)
def where(new):
    p = new.split('/')
    if p[0] == 'testing': return ('testing', '')
    if len(p) < 3: return None
    return p[1], (p[2] if len(p) > 3 else '.')
def test(new): return new.endswith('_test.cc') or new.startswith('testing/') or '/table/' in new
for f in files:
    if f not in placed or test(placed[f]): continue
    a = where(placed[f])
    if not a: continue
    for i in INC.findall((root / 'src' / f).read_text()):
        if i not in placed: continue
        b = where(placed[i])
        if b[0] == 'testing': up['TESTING'].append((f, i)); continue
        if a[0] != b[0]:
            if rank[b[0]] > rank[a[0]]: up[f'{a[0]} -> {b[0]}'].append((f, i))
            continue
        subs = [s for s, _ in m[a[0]]]
        ra, rb = subs.index(a[1]), subs.index(b[1])
        if a[1] == '.' and f.endswith('.cc'): ra = 99
        if rb > ra: up[f'{a[0]}: {a[1]} -> {b[1]}'].append((f.split("/")[1], i.split("/")[1]))
for k, v in up.items():
    print(k, len(v)); 
    for a, b in v: print('     ', a, '->', b)
