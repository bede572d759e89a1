/* The kernel's part as far as programs see it: maps, the ring of hits, signals, whose turn it is. */
#ifndef HOST_H
#define HOST_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#define HOST_MAPS 16
#define HOST_RING 4096
#define HOST_RECORD 256
#define HOST_KERNEL_START 4096
#define HOST_NO_SIGNAL 0

struct host_entry {
	struct host_entry *next;
	void *value;
	unsigned char key[];
};

struct host_map {
	const void *declaration;
	__u32 type, key_size, value_size, most, used;
	struct host_entry *first;
};

static struct {
	struct host_map maps[HOST_MAPS];
	int map_count;
	_Alignas(8) unsigned char records[HOST_RING][HOST_RECORD];
	int submitted, room;
	bool reserved, wakes;
	void *current;
	int current_tgid, current_pid;
	void *registers;
	bool knows_registers;
	__u64 now;
	int signal, signals;
	bool refuses_signals;
	/* what is there can be read as user memory only, everything else as the kernel's only */
	_Alignas(8) unsigned char user[512];
} host = { .room = HOST_RING, .knows_registers = true };

static struct host_map *host_map(const void *declaration)
{
	for (int at = 0; at < host.map_count; at++)
		if (host.maps[at].declaration == declaration)
			return &host.maps[at];
	abort();
}

static struct host_entry **host_find(struct host_map *map, const void *key)
{
	struct host_entry **at = &map->first;

	while (*at && memcmp((*at)->key, key, map->key_size))
		at = &(*at)->next;
	return at;
}

static void host_insert(struct host_map *map, const void *key, const void *value)
{
	struct host_entry *entry = malloc(sizeof(*entry) + map->key_size);

	memcpy(entry->key, key, map->key_size);
	entry->value = malloc(map->value_size);
	memcpy(entry->value, value, map->value_size);
	entry->next = map->first;
	map->first = entry;
	map->used++;
}

static bool host_is_array(const struct host_map *map)
{
	return map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

/* Arrays have all their elements from the start; the test writes them into `declaration` by host_declare. */
static void host_declare(const void *declaration, __u32 type, __u32 key_size, __u32 value_size, __u32 most)
{
	struct host_map *map = &host.maps[host.map_count++];

	*map = (struct host_map){ declaration, type, key_size, value_size, most, 0, 0 };
	if (!host_is_array(map))
		return;
	void *zero = calloc(1, value_size);

	for (__u32 index = 0; index < most; index++)
		host_insert(map, &index, zero);
	free(zero);
}

static void *host_lookup(const void *declaration, const void *key)
{
	struct host_entry **found = host_find(host_map(declaration), key);

	return *found ? (*found)->value : 0;
}

static long host_delete(const void *declaration, const void *key)
{
	struct host_map *map = host_map(declaration);
	struct host_entry **found = host_find(map, key), *entry = *found;

	if (host_is_array(map))
		return -EINVAL;
	if (!entry)
		return -ENOENT;
	*found = entry->next;
	free(entry->value);
	free(entry);
	map->used--;
	return 0;
}

static void host_evict(struct host_map *map)
{
	struct host_entry **at = &map->first;

	while ((*at)->next)
		at = &(*at)->next;
	unsigned char key[64];

	memcpy(key, (*at)->key, map->key_size);
	host_delete(map->declaration, key);
}

static long host_update(const void *declaration, const void *key, const void *value, __u64 flags)
{
	struct host_map *map = host_map(declaration);
	struct host_entry **found = host_find(map, key);

	if (*found && flags == BPF_NOEXIST)
		return -EEXIST;
	if (*found) {
		memcpy((*found)->value, value, map->value_size);
		return 0;
	}
	if (map->used >= map->most && map->type != BPF_MAP_TYPE_LRU_HASH)
		return -E2BIG;
	if (map->used >= map->most)
		host_evict(map);
	host_insert(map, key, value);
	return 0;
}

/* Of a map without elements of its own to be visited, and with flags, the verifier and the kernel take nothing. */
static bool host_can_visit(const void *declaration, __u64 flags)
{
	switch (host_map(declaration)->type) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return !flags;
	default:
		abort();
	}
}

/* The verifier takes a callback only that answers 0, to go on, or 1. */
static bool host_stops(long answered)
{
	if (answered != 0 && answered != 1)
		abort();
	return answered;
}

static void *host_reserve(const void *declaration, __u64 size)
{
	if (host_map(declaration)->type != BPF_MAP_TYPE_RINGBUF || host.reserved || size > HOST_RECORD)
		abort();
	if (host.submitted >= host.room)
		return 0;
	host.reserved = true;
	/* as a ring leaves it: with what was there before */
	return memset(host.records[host.submitted], 0xee, HOST_RECORD);
}

static void host_submit(const void *record, __u64 flags)
{
	if (record != host.records[host.submitted] || !host.reserved)
		abort();
	host.reserved = false;
	host.submitted++;
	host.wakes |= flags != BPF_RB_NO_WAKEUP;
}

static void *host_registers(const void *task)
{
	return task == host.current ? host.registers : 0;
}

static __u64 host_pid_tgid(void)
{
	return (__u64)host.current_tgid << 32 | (__u32)host.current_pid;
}

static long host_send_signal(int number)
{
	if (host.refuses_signals)
		return -EBUSY;
	host.signal = number;
	host.signals++;
	return 0;
}

static bool host_is_user(const void *at)
{
	return (const unsigned char *)at >= host.user && (const unsigned char *)at < host.user + sizeof(host.user);
}

/* What cannot be read is read as zeros. */
static long host_read(void *to, __u32 size, const void *from, bool can)
{
	if (can)
		memcpy(to, from, size);
	else
		memset(to, 0, size);
	return can ? 0 : -EFAULT;
}

static long host_read_kernel(void *to, __u32 size, const void *from)
{
	return host_read(to, size, from, (unsigned long)from >= HOST_KERNEL_START && !host_is_user(from));
}

static long host_read_user(void *to, __u32 size, const void *from)
{
	return host_read(to, size, from, host_is_user(from));
}

static long host_read_kernel_string(char *to, __u32 size, const char *from)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	to[length] = 0;
	return length + 1;
}

#endif
