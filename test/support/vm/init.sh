#!/bin/busybox sh
# The first process of a test's virtual machine: the script's output goes to ttyS1 and ttyS2, its
# status on ttyS3.
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root TERM=dumb NO_COLOR=1 TEST_IN_VM=1

# The initial file system cannot be pivoted away from, as container runtimes do; one mounted over it can.
if [ "$1" != inner ]; then
	mount -o bind / /mnt
	cd /mnt || exit
	mount -o move . /
	exec chroot . /init inner
fi

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=755 tmpfs /run
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tracefs tracefs /sys/kernel/tracing
mount -t securityfs securityfs /sys/kernel/security
ip link set lo up
for module in /lib/modules/*; do
	[ ! -e "$module" ] || insmod "$module"
done

for port in 1 2 3; do stty -F /dev/ttyS$port raw 115200; done
cd /root
setsid /bin/sh /root/script.sh </dev/null >/dev/ttyS1 2>/dev/ttyS2
status=$?
# Setting them again waits until they have sent everything.
for port in 1 2; do stty -F /dev/ttyS$port raw 115200; done
echo "$status" >/dev/ttyS3
poweroff -f
