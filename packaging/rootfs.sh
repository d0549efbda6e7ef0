#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts everything that trainwatch needs at run time into a directory: the file system of its container image.
#   packaging/rootfs.sh BINARY DIRECTORY
# That is the binary, the shared libraries it names, the certificates of authorities, and a user without a shell.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '3,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
binary=$1 root=$2
authorities=/etc/ssl/certs/ca-certificates.crt
[ -e "$authorities" ] || { echo "rootfs: $authorities is missing; install ca-certificates" >&2; exit 1; }

umask 022
mkdir -p "$root"/{usr/bin,usr/lib,etc/ssl/certs,tmp,var/lib/trainwatch}
chmod 1777 "$root/tmp"
for link in bin lib lib64; do ln -sfn "usr/${link%64}" "$root/$link"; done
install -m 755 "$binary" "$root/usr/bin/trainwatch"
strip "$root/usr/bin/trainwatch" 2>/dev/null || true
install -D -m 644 "$(dirname "$0")/../LICENSE" "$root/usr/share/doc/trainwatch/LICENSE"

# ldd prints "name => path (address)", and the loader's path alone.
libraries=$(ldd "$binary" | sed -nE 's/^[^/]*(\/[^ ]+) \(.*$/\1/p')
for library in $libraries; do
  case $library in
    # The path of the loader is part of the binary.
    */ld-linux*) install -m 755 "$library" "$root/usr/lib/${library##*/}" ;;
    *) install -m 644 "$library" "$root/usr/lib/${library##*/}" ;;
  esac
done

install -m 644 "$(readlink -f "$authorities")" "$root$authorities"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
echo 'nonroot:x:65532:65532::/var/lib/trainwatch:/usr/sbin/nologin' >"$root/etc/passwd"
echo 'nonroot:x:65532:' >"$root/etc/group"
if [ "$(id -u)" -eq 0 ]; then chown 65532:65532 "$root/var/lib/trainwatch"; fi
chmod 700 "$root/var/lib/trainwatch"
