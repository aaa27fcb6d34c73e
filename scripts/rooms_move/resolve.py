"""python3 resolve.py CHECKOUT: which #includes of a moved checkout do not resolve on the include path of their target."""
import re, sys
from pathlib import Path
root = Path(sys.argv[1])
INC = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)
uses = {}
for m in re.finditer(r'^dossier_room\(([^)]*)\)', (root/'CMakeLists.txt').read_text(), re.M):
    key='NAME'; d={}
    for w in m[1].split():
        if w.isupper() and w!='.': key=w; d.setdefault(w,[])
        else: d.setdefault(key,[]).append(w)
    uses[d['NAME'][0]] = d.get('USES', [])
def closure(n, seen=None):
    seen = seen if seen is not None else set()
    if n in seen: return seen
    seen.add(n)
    for u in uses[n]: closure(u, seen)
    return seen
bad=0
for p in sorted([*root.glob('src/**/*'), *root.glob('testing/*'), *root.glob('fuzz/*'), *root.glob('bench/*'), *root.glob('tests/**/*'), *root.glob('workers/**/*')]):
    if p.suffix not in ('.h','.cc') : continue
    parts=p.relative_to(root).parts
    if parts[0]=='src' and len(parts)>2:
        ok=closure(parts[1]); 
        if p.stem.endswith('_test'): ok=ok|{'testing'}
    else: ok=set(uses)
    for i in INC.findall(p.read_text()):
        r=i.split('/')[0]
        if '/' not in i:
            if not (p.parent/i).is_file() and i!='assets_table.inc': print(p, i, 'relative?'); bad+=1
            continue
        f = root/i if r=='testing' else root/'src'/i
        if not f.is_file(): print(p.relative_to(root), i, 'NO FILE'); bad+=1
        elif r not in ok: print(p.relative_to(root), i, 'not used'); bad+=1
print(bad,'bad')
