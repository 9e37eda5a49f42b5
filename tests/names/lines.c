/* lines.c - prints source lines and inlined functions of addresses.
 *
 * usage: lines FILE [REPEAT [CACHE]] <ADDRESSES
 * ADDRESSES: hexadecimal ELF addresses, one a line, sorted. For each, as
 * addr2line -a -f -i prints it: the address, and for each function from the
 * innermost outwards its name and FILE:LINE. REPEAT: look them up that often
 * and print the best time in milliseconds on stderr. CACHE: a folder, to
 * remember them in. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/symbolize.h"

struct list {
	uint64_t *vaddr;
	struct code_place *code;
	size_t n, cap, at;
	bool quiet;
};

static int names_lines_print(void *arg, const struct symbol *sym,
			     struct err *err)
{
	struct list *l = arg;

	(void)err;
	if (l->quiet)
		return 0;
	if (!sym->depth)
		printf("0x%016" PRIx64 "\n", l->vaddr[l->at++]);
	printf("%s\n%s:%" PRIu32 "\n", sym->name ? sym->name : "??",
	       sym->file ? sym->file : "??", sym->line);
	return 0;
}

static double names_lines_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The offsets of the addresses, by the segments of the file. */
static void names_lines_convert(struct list *l, const struct image_report *rep)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < rep->n_seg; k++)
			if (l->vaddr[i] >= rep->seg[k].vaddr &&
			    l->vaddr[i] - rep->seg[k].vaddr <
				    rep->seg[k].filesz)
				l->code[i].off = l->vaddr[i] -
						 rep->seg[k].vaddr +
						 rep->seg[k].off;
}

int main(int argc, char **argv)
{
	struct list l = { .quiet = true };
	struct image_report rep;
	struct err err;
	char line[256];
	double best = 0;
	int repeat = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;

	if (argc < 2)
		return 2;
	struct image img = { .kind = IMAGE_FILE, .path = argv[1] };
	struct elf_file *ef = elf_file_open(argv[1], &err);
	if (!ef) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	memcpy(img.id, ef->id, sizeof(img.id));
	img.id_len = ef->id_len;
	elf_file_close(ef);
	while (fgets(line, sizeof(line), stdin)) {
		*mem_add(l.vaddr, l.n, l.cap) = strtoull(line, NULL, 16);
	}
	l.code = mem_new(l.n, sizeof(*l.code));
	for (int i = 0; i <= repeat; i++) {
		struct symbolizer *sy = symbolize_new(&(struct symbolize_opts){
			.no_live = true, .cache = argc > 3 ? argv[3] : NULL });
		double t = names_lines_now();

		l.quiet = i < repeat;
		if (symbolize_image(sy, &img, l.code, i ? l.n : 0,
				    names_lines_print, &l, &rep, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		t = names_lines_now() - t;
		if (!i)
			names_lines_convert(&l, &rep);
		else if (i == 1 || t < best)
			best = t;
		report_release(&rep);
		symbolize_free(sy);
	}
	fprintf(stderr, "%s: %s, %zu addresses, %.2f ms\n", argv[1],
		image_status_word(rep.status), l.n, best);
	free(l.vaddr);
	free(l.code);
	return 0;
}
