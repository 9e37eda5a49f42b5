/* elf.c - cuts a program with debug information, flips its bytes, names it.
 *
 * usage: damage-elf FILE N SEED. N seeded cuts and N seeded flips, for a commit
 * a third of them, all in this process (run it under sanitizers). Flips go to
 * the sections that naming reads. Each must end with an answer for every
 * offset, within seconds and without a signal; most of the answers come out of
 * libdw. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/symbolize.h"
#include "tests/accident.h"
#include "tests/slurp.h"
#include "tests/turn.h"

#define OFFSETS 256
#define SECONDS_MAX 30
#define INLINE_MAX 1000

struct answers {
	size_t told, named, lines;
	uint64_t last;
	bool bad;
};

static int damage_elf_count(void *arg, const struct symbol *sym,
			    struct err *err)
{
	struct answers *a = arg;

	(void)err;
	if (!sym->depth) {
		a->told++;
		a->bad |= a->told > 1 && sym->off <= a->last;
		a->last = sym->off;
	}
	a->bad |= sym->depth > INLINE_MAX;
	a->named += sym->name && strlen(sym->name);
	a->lines += sym->file && strlen(sym->file) && sym->line;
	return 0;
}

/* Pieces of the file worth damaging. */
struct piece {
	uint64_t off, len;
};

static struct piece *pieces;
static size_t n_pieces, cap_pieces;
static struct code_place code[OFFSETS];
static size_t n_code; /* less than OFFSETS if the program is small */

static void damage_elf_look_around(const char *path)
{
	struct err err;
	struct elf_file *ef = elf_file_open(path, &err);

	if (!ef || !ef->n_seg) {
		fprintf(stderr, "%s: no program\n", path);
		exit(1);
	}
	for (size_t i = 1; i < elf_sections(ef); i++) {
		struct elf_section s;

		if (!elf_section_get(ef, i, &s) || s.type == SHT_NOBITS ||
		    (strncmp(s.name, ".debug_", 7) != 0 &&
		     strncmp(s.name, ".dyn", 4) != 0 &&
		     strcmp(s.name, ".symtab") != 0 &&
		     strcmp(s.name, ".strtab") != 0))
			continue;
		mem_grow(pieces, cap_pieces, n_pieces + 2);
		pieces[n_pieces++] = (struct piece){ s.off, s.size };
	}
	pieces[n_pieces++] = (struct piece){ 0, 64 + 56 * 8 }; /* headers */
	n_code = ef->seg->filesz < OFFSETS ? ef->seg->filesz : OFFSETS;
	for (size_t i = 0; i < n_code; i++)
		code[i] = (struct code_place){
			.off = ef->seg->off + ef->seg->filesz * i / n_code,
			.after_call = i % 2
		};
	elf_file_close(ef);
}

static int name(const unsigned char *p, size_t len, struct answers *a)
{
	char path[64];
	struct image_report rep;
	struct err err;
	struct timespec t0;
	struct timespec t1;
	int fd = memfd_create("elf", MFD_CLOEXEC);

	memset(a, 0, sizeof(*a));
	if (fd < 0 || write(fd, p, len) != (ssize_t)len)
		exit(1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct symbolizer *sy = symbolize_new(
		&(struct symbolize_opts){ .symfs = "/proc", .no_live = true });
	/* nothing ran at these addresses: they must not speak against the file
	 */
	struct image img = { .kind = IMAGE_FILE,
			     .path = path + 5,
			     .settled = path };
	clock_gettime(CLOCK_MONOTONIC, &t0);
	int rc = symbolize_image(sy, &img, code, n_code, damage_elf_count, a,
				 &rep, &err);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	report_release(&rep);
	symbolize_free(sy);
	close(fd);
	return rc || a->told != n_code || a->bad ||
	       t1.tv_sec - t0.tv_sec > SECONDS_MAX;
}

int main(int argc, char **argv)
{
	struct answers whole;
	struct answers a;
	size_t len;
	int bad = 0;

	if (argc != 4)
		return 2;
	unsigned char *p = slurp_slurp(argv[1], &len);
	size_t n = strtoul(argv[2], NULL, 10);
	accident = strtoull(argv[3], NULL, 10) * 2654435761u + 1;
	damage_elf_look_around(argv[1]);
	if (name(p, len, &whole) || !whole.named || !whole.lines) {
		printf("%s: %zu names, %zu lines: nothing to damage\n", argv[1],
		       whole.named, whole.lines);
		return 1;
	}
	for (size_t i = 0; i < n && !bad; i++) {
		size_t cut = random_below(len);

		bad = turn_is(i, 3) && name(p, cut, &a);
		if (bad)
			printf("cut at %zu: %zu of %zu told\n", cut, a.told,
			       n_code);
	}
	for (size_t i = 0; i < n && !bad; i++) {
		unsigned char *copy = mem_dup(p, len);
		uint64_t flips = 1 + random_below(8);
		const struct piece *pc = &pieces[random_below(n_pieces)];

		for (uint64_t k = 0; k < flips; k++) {
			uint64_t at = pc->off + random_below(pc->len);

			if (at < len)
				copy[at] ^=
					(unsigned char)(1 + random_below(255));
		}
		bad = turn_is(i, 3) && name(copy, len, &a);
		if (bad)
			printf("flip %zu in the piece at %zu: %zu of %zu told\n",
			       i, (size_t)pc->off, a.told, n_code);
		free(copy);
	}
	free(p);
	free(pieces);
	return bad;
}
