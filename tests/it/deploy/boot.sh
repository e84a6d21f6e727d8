#!/bin/bash
# Boots systemd as process 1 of a container: boot.sh EXCHANGE LAYER [WORD...]
#
# The container sees the file system of this machine under a layer in memory, which is mounted at the folder LAYER: what it
# writes is gone with it. The folder EXCHANGE is its /mnt/exchange. It has no network but its own loopback. The words are those of
# the kernel command line. Called by `unshare --mount`, so that the mounts end with it.
set -eu
exchange=$1
layer=$2
shift 2
mount -t tmpfs -o size=2g,mode=755 tmpfs "$layer"
mkdir "$layer/upper" "$layer/work" "$layer/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
# A gridtally of this machine is none of the container's.
rm -rf "$layer/root/etc/gridtally" "$layer/root/var/lib/gridtally" "$layer/root/var/cache/gridtally"
rm -rf "$layer/root"/etc/systemd/system/gridtally* "$layer/root"/etc/systemd/system/*.wants/gridtally*
exec systemd-nspawn --quiet --directory="$layer/root" --machine="gridtally-test-$$" --register=no --keep-unit --private-network \
    --bind="$exchange:/mnt/exchange" --boot "$@"
