"""Include graph helper: python3 graph.py ROOT MODULE -> per-stem edges inside a module, external users."""
import re,sys,os
from pathlib import Path
from collections import defaultdict
root=Path(sys.argv[1]); mod=sys.argv[2]
INC=re.compile(r'^\s*#\s*include "([^"]+)"',re.M)
src=root/'src'
files=[p.relative_to(src).as_posix() for p in src.rglob('*') if p.suffix in('.h','.cc','.S','.inc')]
hdr=set(files)
def stem(f):
    return f.rsplit('.',1)[0]
inc={f:INC.findall((src/f).read_text()) for f in files}
lines={f:(src/f).read_text().count('\n') for f in files}
ext=defaultdict(set); use=defaultdict(set); alien=defaultdict(set)
for f in files:
    for i in inc[f]:
        if i not in hdr: alien[f].add(i); continue
        if i.split('/')[0]==mod:
            if f.split('/')[0]==mod: use[f].add(i)
            else: ext[i].add(f.split('/')[0])
        elif f.split('/')[0]==mod: pass
mine=sorted(f for f in files if f.split('/')[0]==mod)
for f in mine:
    ins=sorted(x.split('/',1)[1] for x in use[f] if stem(x)!=stem(f))
    users=[u for u in mine if f in use[u]]
    print(f"{f.split('/',1)[1]} [{lines[f]}] -> {' '.join(ins)}" + (f"   EXT<{','.join(sorted(ext[f]))}>" if ext[f] else '') + (f" !{alien[f]}" if alien[f] else ''))
