#!/bin/bash
# guest.sh - records all workloads in a virtual machine of two CPUs, where perf record -a sees nothing else.
# usage: tests/causality/guest.sh FOLDER [NAME...]
#
# The guest is a kernel of Debian (linux-image-amd64) with busybox, perf and workloads in its initramfs; each capture is
# written to FOLDER as NAME.data.zst, its log as NAME.log and its truth, by truth.py, as NAME.truth.json. $ROUNDS: of
# each workload (20). $ACCEL: of qemu (tcg; with -icount the second CPU does not come up). Needs qemu-system-x86,
# busybox-static, cpio, linux-perf, e2fsprogs, zstd, a C compiler and apt-get, and two minutes for 20 rounds; run by
# hand, not part of make check.
set -u
here=$(realpath "$(dirname "$0")")
dir=$(realpath -m "${1:?usage: tests/causality/guest.sh FOLDER [NAME...]}")
shift
names=${*:-chain lock cond queue timers disk sock hog fork signals pty pi herd futex}
root=$dir/root
accel=${ACCEL:-tcg,thread=multi}

fail() {
	echo "guest.sh: $*" >&2
	exit 1
}

fetch_kernel() {
	[ ! -d "$dir/kernel/boot" ] || return 0
	local image
	image=$(apt-cache depends linux-image-amd64 |
		sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	mkdir -p "$dir/kernel" && (cd "$dir" && apt-get download -q "$image") &&
		dpkg-deb -x "$dir/$image"_*.deb "$dir/kernel"
}

# with_libraries PROGRAM: it and what it is linked with
with_libraries() {
	local file
	for file in "$1" $(ldd "$1" | grep -o '/[^ ]*')
	do
		mkdir -p "$root$(dirname "$file")"
		cp -L "$file" "$root$file"
	done
}

copy_modules() {
	local version=$1 at=lib/modules/$1 path
	for path in drivers/block/virtio_blk.ko drivers/virtio fs/ext4 fs/jbd2 \
		fs/mbcache.ko lib/crc16.ko lib/libcrc32c.ko \
		crypto/crc32c_generic.ko
	do
		[ -e "$dir/kernel/$at/kernel/$path" ] || continue
		mkdir -p "$root/$at/kernel/$(dirname "$path")"
		cp -r "$dir/kernel/$at/kernel/$path" \
			"$root/$at/kernel/$(dirname "$path")"
	done
	busybox depmod -b "$root" "$version"
}

# The first program of the guest: /dev/vda is a disk, /dev/vdb takes the results.
make_init() {
	cat >"$root/init" <<-END
	#!/bin/busybox sh
	/bin/busybox --install -s /bin
	mount -t proc proc /proc
	mount -t sysfs sys /sys
	mount -t devtmpfs dev /dev
	mkdir -p /dev/pts /var/tmp /out /tmp
	mount -t devpts devpts /dev/pts
	mount -t tracefs tracing /sys/kernel/tracing
	ip link set lo up
	for m in virtio_pci virtio_blk crc32c_generic ext4
	do
		modprobe \$m
	done
	mount -t ext4 /dev/vda /var/tmp || echo "no disk"
	cat /proc/kallsyms >/out/kallsyms
	for n in $names
	do
		echo "recording \$n"
		perf record -q -a -m 2048 -k CLOCK_MONOTONIC \
			-e sched:sched_switch/call-graph=fp/ \
			-e sched:sched_waking/call-graph=fp/ \
			-e sched:sched_wakeup -e sched:sched_wakeup_new \
			-e sched:sched_process_fork -e sched:sched_process_exit \
			-e sched:sched_migrate_task \
			-e irq:irq_handler_entry -e irq:irq_handler_exit \
			-e irq:softirq_entry -e irq:softirq_exit \
			-e timer:hrtimer_expire_entry \
			-e timer:hrtimer_expire_exit \
			-e timer:timer_expire_entry -e timer:timer_expire_exit \
			-o /out/\$n.data -- workloads \$n ${ROUNDS:-20} >/out/\$n.log
	done
	tar -c -C /out . >/dev/vdb
	sync
	poweroff -f
	END
	chmod +x "$root/init"
}

make_root() {
	rm -rf "$root"
	mkdir -p "$root"/{bin,sbin,proc,sys,dev,usr}
	ln -s ../bin "$root/usr/bin"
	ln -s ../bin/busybox "$root/sbin/modprobe" # the kernel's own calls
	cp "$(command -v busybox)" "$root/bin/" || return 1
	with_libraries "$(command -v perf)"
	cc -D_GNU_SOURCE -O1 -static -o "$root/bin/workloads" \
		"$here/workloads.c" -lpthread || return 1
	copy_modules "$1"
	make_init
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$dir/initramfs"
}

run_guest() {
	rm -f "$dir/disk" "$dir/results"
	truncate -s 64M "$dir/disk" "$dir/results"
	mkfs.ext4 -q "$dir/disk" || return 1
	qemu-system-x86_64 -accel "$accel" -cpu max -smp 2 -m 1024 \
		-display none -no-reboot \
		-kernel "$dir"/kernel/boot/vmlinuz-* -initrd "$dir/initramfs" \
		-append "console=ttyS0 quiet panic=-1 mitigations=off nowatchdog" \
		-drive "file=$dir/disk,format=raw,if=virtio" \
		-drive "file=$dir/results,format=raw,if=virtio" \
		-serial "file:$dir/console" || return 1
	tar -x -C "$dir" -f "$dir/results"
}

mkdir -p "$dir"
fetch_kernel || fail "no kernel"
version=$(basename "$dir"/kernel/lib/modules/*)
make_root "$version" || fail "no initramfs"
run_guest || fail "the guest failed, see $dir/console"
for name in $names
do
	python3 "$here/truth.py" "$dir/$name"
done
