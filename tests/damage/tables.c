/* tables.c - flips and cuts a file's unwind tables, and unwinds by them.
 *
 * usage: tables FILE N SEED. N seeded cuts and N seeded flips, for a commit a
 * third of them, of .eh_frame,
 * .eh_frame_hdr and .debug_frame, their section headers among them, all in
 * this process (run it under sanitizers). Stacks whose words are addresses in
 * the file's code, and some that point into the stack, are unwound from many
 * places: each must end with one of the reasons there are, within the room
 * given, and all of them in a time that is in proportion to the file. */
#include <fcntl.h>
#include <gelf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/unwinder.h"
#include "symbolize/elf/elf.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/symbolize.h"
#include "symbolize/unwind/unwind.h"
#include "tests/accident.h"
#include "tests/slurp.h"
#include "tests/turn.h"

#define PLACES 256
#define WORDS 512
#define REGS 34
#define FRAMES_MAX 128
#define STACK 0x7ffd00000000u
#define SECONDS_MAX 20

/* A table, and where its header is. */
struct piece {
	uint64_t off, len, header;
};

static struct piece piece[8];
static size_t n_piece;
static uint64_t code_off, code_len;
static uint16_t machine;
static bool swap; /* it is of a big-endian machine */

static void damage_tables_look_around(const unsigned char *p, size_t len)
{
	struct elf_file *ef =
		elf_file_memory(mem_dup(p, len), len, "whole", NULL);
	GElf_Ehdr eh;

	if (!ef || !ef->n_seg || !gelf_getehdr(ef->elf, &eh))
		exit(1);
	swap = eh.e_ident[EI_DATA] == ELFDATA2MSB;
	machine = ef->machine;
	code_off = ef->seg->off;
	code_len = ef->seg->filesz;
	for (size_t i = 1; i < elf_sections(ef); i++) {
		struct elf_section s;

		if (!elf_section_get(ef, i, &s) || s.type == SHT_NOBITS ||
		    n_piece == sizeof(piece) / sizeof(*piece) ||
		    (strcmp(s.name, ".eh_frame") != 0 &&
		     strcmp(s.name, ".eh_frame_hdr") != 0 &&
		     strcmp(s.name, ".debug_frame") != 0))
			continue;
		piece[n_piece++] =
			(struct piece){ s.off, s.size,
					eh.e_shoff + i * sizeof(Elf64_Shdr) };
	}
	elf_file_close(ef);
}

static int damage_tables_find(void *arg, uint64_t addr, struct unwind_map *map)
{
	*map = (struct unwind_map){ .start = code_off,
				    .end = code_off + code_len,
				    .pgoff = code_off,
				    .image = *(uint32_t *)arg,
				    .exec = true };
	return addr >= map->start && addr < map->end;
}

struct outcome {
	size_t frames, by_end[UNWIND_N];
	bool bad;
};

static void damage_tables_note(struct outcome *o, const struct unwind_out *out)
{
	o->frames += out->n;
	if (out->n < 1 || out->n > out->max || out->end == UNWIND_NONE ||
	    out->end >= UNWIND_N)
		o->bad = true;
	else
		o->by_end[out->end]++;
}

static void unwind_all(struct unwinder *uw, uint32_t id, struct outcome *o)
{
	uint64_t v[REGS], word[WORDS], ip[FRAMES_MAX];
	const struct regs regs = { v, (1ull << REGS) - 1, REGS, 2 };

	for (size_t k = 0; k < WORDS; k++) {
		word[k] = k % 4 == 3 ? STACK + 8 * (k + 5)
				     : code_off + code_len * k / WORDS;
		word[k] = swap ? __builtin_bswap64(word[k]) : word[k];
	}
	for (size_t i = 0; i < PLACES; i++) {
		struct unwind_in in = { .regs = &regs,
					.user_mask = (1ull << 48) - 1,
					.machine = machine,
					.find = damage_tables_find,
					.stack = word,
					.len = sizeof(word),
					.dumped = true,
					.swap = swap,
					.epoch = 1,
					.arg = &id };
		struct unwind_out out = { .ip = ip, .max = FRAMES_MAX };

		in.pc = code_off + code_len * i / PLACES;
		for (size_t k = 0; k < REGS; k++)
			v[k] = STACK + 8 * (k % 8);
		v[7] = v[15] = v[31] = STACK; /* SP of each machine */
		v[8] = v[32] = v[33] = in.pc;
		uw->ops->unwind(uw, &in, &out);
		damage_tables_note(o, &out);
	}
}

/* 1: something is wrong. */
static int damage_tables_run(const unsigned char *p, size_t len,
			     struct outcome *o)
{
	char path[64];
	struct timespec t0, t1;
	int fd = memfd_create("tables", MFD_CLOEXEC);

	memset(o, 0, sizeof(*o));
	if (fd < 0 || write(fd, p, len) != (ssize_t)len)
		exit(1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct symbolizer *sy = symbolize_new(
		&(struct symbolize_opts){ .symfs = "/proc", .no_live = true });
	struct frames *fr = frames_new();
	struct unwinder *uw = unwind_new(sy, fr);
	const struct image img = { .kind = IMAGE_FILE, .path = path + 5 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	unwind_all(uw, frames_image(fr, &img), o);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	struct unwind_images_count count =
		unwind_images_count(unwind_get_images(uw));

	/* A row needs a byte that asks for it, but for the one that each
	 * function begins with and the one behind it; a header may claim more
	 * of the file than there was. */
	o->bad |= count.rows > 2 * len;
	o->bad |= t1.tv_sec - t0.tv_sec > SECONDS_MAX;
	uw->ops->free(uw);
	frames_free(fr);
	symbolize_free(sy);
	close(fd);
	return o->bad;
}

/* A table that is shorter than it was, or whose rest is zeros. */
static void damage_tables_cut(unsigned char *p, const struct piece *pc)
{
	uint64_t n = random_below(pc->len);
	uint64_t size = swap ? __builtin_bswap64(n) : n;

	if (random_below(2))
		memset(p + pc->off + n, 0, pc->len - n);
	else
		memcpy(p + pc->header + offsetof(Elf64_Shdr, sh_size), &size,
		       8);
}

static void flip(unsigned char *p, const struct piece *pc)
{
	uint64_t flips = 1 + random_below(16);

	for (uint64_t k = 0; k < flips; k++) {
		uint64_t at =
			random_below(8)
				? pc->off + random_below(pc->len)
				: pc->header + random_below(sizeof(Elf64_Shdr));

		p[at] ^= (unsigned char)(1 + random_below(255));
	}
}

int main(int argc, char **argv)
{
	struct outcome whole;
	struct outcome o;
	size_t len;
	int bad = 0;

	if (argc != 4)
		return 2;
	unsigned char *p = slurp_slurp(argv[1], &len);
	size_t n = strtoul(argv[2], NULL, 10);
	accident = strtoull(argv[3], NULL, 10) * 2654435761u + 1;
	damage_tables_look_around(p, len);
	if (damage_tables_run(p, len, &whole) || !n_piece ||
	    whole.by_end[UNWIND_NO_TABLE] == PLACES) {
		printf("%s: %zu tables, %zu frames: nothing to damage\n",
		       argv[1], n_piece, whole.frames);
		return 1;
	}
	for (size_t i = 0; i < 2 * n && !bad; i++) {
		unsigned char *copy = mem_dup(p, len);
		const struct piece *pc = &piece[random_below(n_piece)];

		(i < n ? damage_tables_cut : flip)(copy, pc);
		bad = turn_is(i, 3) && damage_tables_run(copy, len, &o);
		if (bad)
			printf("%s %zu of the table at %zu\n",
			       i < n ? "cut" : "flip", i, (size_t)pc->off);
		free(copy);
	}
	free(p);
	return bad;
}
