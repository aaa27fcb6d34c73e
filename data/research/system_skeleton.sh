# Fills the working folder with the user's own layer of the local sandbox's system folders
# (src/research/system_layers.h). Runs inside the sandbox, so it sees what a command may see, and the
# sources of apt. Arguments, by threes: a folder, its name here, whether it is ours; then `--` and what
# there is of /etc, which cannot be listed. Prints what it left out.
umask 022

# A folder of another owner cannot be changed, not even in an overlay; one of ours in front of it can.
repeat_folders() {
  mkdir -p "$2"
  if [ "$3" = ours ]; then return 0; fi
  (cd "$1" && find . -xdev -mindepth 1 -maxdepth 5 -type d -print0 2>/dev/null) |
    (cd "$2" && xargs -0 -r mkdir -p)
}

# The files of a folder itself; empty where they may not be read (locks).
repeat_files() {
  for file in "$1"/*; do
    if [ ! -f "$file" ]; then continue; fi
    cp "$file" "$2/" 2>/dev/null || { rm -f "$2/${file##*/}" && : >"$2/${file##*/}"; }
  done
}

while [ $# -gt 2 ] && [ "$1" != -- ]; do
  if [ -d "$1" ]; then repeat_folders "$1" "$2" "$3" || exit 1; fi
  shift 3
done

mkdir -p usr/sbin etc var
printf '#!/bin/sh\nexit 101\n' >usr/sbin/policy-rc.d # no service is started
chmod 755 usr/sbin/policy-rc.d

shift
for path; do
  if [ ! -e "$path" ]; then continue; fi
  mkdir -p ".${path%/*}"
  cp -RP --preserve=mode,timestamps "$path" ".${path%/*}/" 2>/dev/null
done
if [ -L etc/resolv.conf ]; then # its target is in the host's /run
  rm -f etc/resolv.conf
  cp -L /etc/resolv.conf etc/
fi
chmod -R u+rwX etc
if [ -r /usr/share/base-passwd/passwd.master ]; then
  user="user:x:$(id -u):$(id -g)::/tmp:/bin/sh"
  group="user:x:$(id -g):"
  rm -f etc/passwd etc/group
  { sed 's/:\*:/:x:/' /usr/share/base-passwd/passwd.master && echo "$user"; } >etc/passwd
  { sed 's/:\*:/:x:/' /usr/share/base-passwd/group.master && echo "$group"; } >etc/group
fi
# Others that dpkg must know by name; their ids mean nothing here.
if [ -r /var/lib/dpkg/statoverride ]; then
  id=900
  while read -r owner group mode path; do
    if ! grep -q "^$owner:" etc/passwd; then
      echo "$owner:x:$id:$id::/nonexistent:/usr/sbin/nologin" >>etc/passwd
    fi
    if ! grep -q "^$group:" etc/group; then echo "$group:x:$id:" >>etc/group; fi
    id=$((id + 1))
  done </var/lib/dpkg/statoverride
fi
if [ -d etc/apt ]; then
  find etc/apt -type f | while IFS= read -r file; do
    if grep -qE '://[^/[:space:]]*@|[Pp]assword' "$file"; then
      rm -f "$file"
      echo "/$file"
    fi
  done
  mkdir -p etc/apt/apt.conf.d etc/apt/sources.list.d etc/apt/preferences.d etc/apt/trusted.gpg.d
  cat >etc/apt/apt.conf.d/zz-sandbox <<'END'
APT::Sandbox::User "root";
DPkg::Use-Pty "0";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
END
  mkdir -p etc/dpkg/dpkg.cfg.d
  echo force-unsafe-io >etc/dpkg/dpkg.cfg.d/sandbox
fi

mkdir -p var/backups var/cache/apt/archives/partial var/cache/debconf var/cache/fontconfig \
  var/cache/ldconfig var/cache/man var/lib/apt/lists var/lib/apt/periodic var/lib/dpkg var/lib/misc \
  var/lib/pam var/lib/python var/lib/systemd var/lib/texmf var/lib/ucf var/local \
  var/log/apt var/mail var/opt var/spool var/tmp run/lock
ln -s /run var/run
ln -s /run/lock var/lock
if [ -d var-lib-dpkg ]; then
  mkdir -p var-lib-dpkg/triggers var-lib-dpkg/updates
  repeat_files /var/lib/dpkg var-lib-dpkg
  repeat_files /var/lib/dpkg/triggers var-lib-dpkg/triggers
fi
if [ -d var-lib-apt-lists ]; then
  mkdir -p var-lib-apt-lists/partial var-lib-apt-lists/auxfiles
  : >var-lib-apt-lists/lock
  cp /var/lib/apt/lists/*Release var-lib-apt-lists/ 2>/dev/null # apt changes their modes
fi
if [ -r /var/lib/apt/extended_states ]; then cp /var/lib/apt/extended_states var/lib/apt/; fi
exit 0
