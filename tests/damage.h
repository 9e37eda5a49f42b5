/* damage.h - what the programs that damage captures share: seeded accidents,
 * a capture in memory that is read to its end, and what is said of failures.
 *
 * All of it happens in the program's own process: run it under sanitizers. */
#pragma once
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/source.h"
#include "tests/accident.h"
#include "tests/slurp.h"
#include "tests/turn.h"

/* Bytes of a head, where most of what is believed stands. */
#define DAMAGE_HEAD 512
#define DAMAGE_FLIPS 4

struct outcome {
	bool opened, failed;
	uint64_t n; /* records, or events: what is asked for */
	uint64_t damage;
	struct err err;
};

/* "CAPTURE N SEED": gives N. */
static inline uint64_t damage_start(int argc, char **argv, const char *usage)
{
	if (argc != 4) {
		fprintf(stderr, "usage: %s N SEED\n", usage);
		exit(2);
	}
	accident =
		strtoull(argv[3], NULL, 10) * 2654435769u + 88172645463325252u;
	return strtoull(argv[2], NULL, 10);
}

static inline int damage_complain(const char *what, uint64_t at,
				  const struct outcome *o)
{
	fprintf(stderr,
		"%s at 0x%" PRIx64 ": opened %d failed %d read %" PRIu64
		" damage %" PRIu64 ": %s\n",
		what, at, o->opened, o->failed, o->n, o->damage, o->err.msg);
	return 1;
}

/* Neither read nor refused with a message? */
static inline bool damage_is_silent(const struct outcome *o)
{
	return (!o->opened || o->failed) && !o->err.msg[0];
}

/* A file of these bytes: its descriptor and its name. */
static inline int damage_file(const unsigned char *data, size_t n,
			      char path[64])
{
	int fd = memfd_create("damage", 0);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n) {
		fprintf(stderr, "cannot make a file in memory\n");
		exit(2);
	}
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* Does this record count? rec is NULL when it is broken. */
typedef bool damage_seen_fn(void *arg, struct source *src,
			    const struct ref *ref, const struct record *rec);

/* Reads src, which may be NULL, to its end and closes it; o->err is of its
 * opening. The ledger goes too. */
static inline void damage_read(struct source *src, struct ledger *lg,
			       damage_seen_fn *seen, void *arg,
			       struct outcome *o)
{
	struct record rec;
	struct ref ref;
	int got = 0;

	o->opened = src != NULL;
	if (src && src->ops->scan)
		o->failed = src->ops->scan(src, &o->err) != 0;
	while (src && !o->failed &&
	       (got = src->ops->next(src, &ref, &o->err)) > 0) {
		bool bad = src->ops->decode(src, &ref, &rec, &o->err) != 0;

		o->n += seen(arg, src, &ref, bad ? NULL : &rec);
		if (src->ops->release)
			src->ops->release(src, &ref);
	}
	o->failed |= got < 0;
	source_close(src);
	ledger_end(lg);
	o->damage = ledger_count(lg, LEDGER_DAMAGE);
	ledger_free(lg);
}

/* Bytes that were changed, to change them back. */
struct flips {
	uint64_t at[DAMAGE_FLIPS];
	unsigned char was[DAMAGE_FLIPS];
	uint64_t n;
};

/* Changes one to four bytes; one in `head` of them in the head, 0: none. */
static inline void damage_flip(struct flips *fl, unsigned char *data, size_t n,
			       uint64_t head)
{
	fl->n = 1 + random_below(DAMAGE_FLIPS);
	for (uint64_t i = 0; i < fl->n; i++) {
		bool any = !head || random_below(head) || n < DAMAGE_HEAD;

		fl->at[i] = random_below(any ? n : DAMAGE_HEAD);
		fl->was[i] = data[fl->at[i]];
		data[fl->at[i]] ^= (unsigned char)(1 + random_below(255));
	}
}

static inline void damage_flip_back(const struct flips *fl, unsigned char *data)
{
	for (uint64_t i = fl->n; i-- > 0;)
		data[fl->at[i]] = fl->was[i];
}

/* Flips bytes `tries` times, and reads each result. Returns how many of these
 * were neither read nor refused with a message. head: see damage_flip(). */
static inline int
damage_flips(unsigned char *data, size_t n, uint64_t tries, uint64_t head,
	     struct outcome (*read_bytes)(const unsigned char *data, size_t n))
{
	struct flips fl;
	int bad = 0;

	for (uint64_t i = 0; i < tries; i++) {
		damage_flip(&fl, data, n, head);
		struct outcome o = read_bytes(data, n);

		damage_flip_back(&fl, data);
		if (damage_is_silent(&o))
			bad += damage_complain("flip without a message",
					       fl.at[0], &o);
	}
	return bad;
}

/* How many of end[n] are not behind at. */
static inline uint64_t damage_ends_before(const uint64_t *end, size_t n,
					  uint64_t at)
{
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += end[i] <= at;
	return count;
}

/* Prints the line of a program that is done, and gives its status. */
static inline int damage_done(const char *path, const char *what, uint64_t n,
			      uint64_t tries, int bad)
{
	printf("%s: %" PRIu64 " %s, %" PRIu64 " cuts, %" PRIu64
	       " flips, %d failures\n",
	       path, n, what, tries, tries, bad);
	return bad != 0;
}
