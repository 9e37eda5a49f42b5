/* sframe_text.c - an SFrame section, the results of its tests, and how far
 * stacks can be unwound by such sections alone, as text or JSON. */
#include <inttypes.h>

#include "cli/args/status.h"
#include "cli/output/json_rows.h"
#include "cli/output/say.h"
#include "cli/tables/sframe.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "stitch/verdict.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe.h"
#include "symbolize/sframe/sframe_check.h"
#include "symbolize/unwind/unwind_compare.h"

struct sframe_dump_state {
	const struct sframe *sf;
	struct json json;
	bool in_func; /* its object and array of rows are open */
};

struct reg_text {
	char s[96]; /* room for a register and an offset */
};

static const char *reg_name(const struct sframe *sf, uint32_t reg,
			    struct reg_text *t)
{
	if (reg == SFRAME_CFA)
		return "c";
	if (reg == sf->machine->sp)
		return "sp";
	if (reg == sf->machine->fp)
		return "fp";
	snprintf(t->s, sizeof(t->s), "r%" PRIu32, reg);
	return t->s;
}

/* Formats a place as objdump does: "c-16" is the memory at CFA - 16. objdump
 * has no form for the value CFA - 16, which is "=c-16". */
static const char *sframe_dump_place(const struct sframe *sf,
				     const struct sframe_place *p,
				     struct reg_text *t)
{
	struct reg_text reg;

	switch (p->kind) {
	case SFRAME_NONE:
		return "u";
	case SFRAME_PADDED:
		return "U";
	case SFRAME_FIXED:
		return "f";
	default:
		break;
	}
	const char *name = reg_name(sf, p->reg, &reg);
	if (p->kind == SFRAME_REG)
		snprintf(t->s, sizeof(t->s), "%.15s", name);
	else if (p->kind == SFRAME_MEMORY && p->reg != SFRAME_CFA)
		snprintf(t->s, sizeof(t->s), "(%.15s%+" PRId64 ")", name,
			 p->off);
	else
		snprintf(t->s, sizeof(t->s), "%s%.15s%+" PRId64,
			 p->kind == SFRAME_VALUE && p->reg == SFRAME_CFA ? "="
									 : "",
			 name, p->off);
	return t->s;
}

static uint64_t row_addr(const struct sframe_func *f,
			 const struct sframe_row *row)
{
	return f->rep ? row->pc : f->start + row->pc;
}

/* ---- text */

static void sframe_dump_put_func(void *arg UNUSED, uint32_t i,
				 const struct sframe_func *f)
{
	printf("\n[%" PRIu32 "] 0x%" PRIx64 ", %" PRIu32 " bytes", i, f->start,
	       f->size);
	if (f->rep)
		printf(", repeats every %u", f->rep);
	fputs(f->signal ? ", signal frame" : "", stdout);
	fputs(f->flex ? ", flexible" : "", stdout);
	fputs(f->key_b ? ", key B" : "", stdout);
	putchar('\n');
	if (!f->n)
		puts("    no rows");
}

static void sframe_dump_put_row(void *arg, const struct sframe_func *f,
				const struct sframe_row *row,
				const struct sframe_rule *rule)
{
	struct sframe_dump_state *d = arg;
	struct reg_text cfa;
	struct reg_text fp;
	struct reg_text ra;

	printf("  %16" PRIx64, row_addr(f, row));
	if (rule->outermost) {
		puts("  outermost");
		return;
	}
	printf("  %-12s %-9s %s%s\n",
	       sframe_dump_place(d->sf, &rule->cfa, &cfa),
	       sframe_dump_place(d->sf, &rule->fp, &fp),
	       sframe_dump_place(d->sf, &rule->ra, &ra),
	       rule->is_signed ? "[s]" : "");
}

static void sframe_dump_put_bad(void *arg UNUSED, uint32_t i UNUSED,
				const struct err *err)
{
	fputs("  damaged: ", stdout);
	safe_text_clean(stdout, err->msg, strlen(err->msg));
	putchar('\n');
}

/* ---- JSON */

/* Writes the section's header as an object. */
static void sframe_head_json(struct json *j, const char *key,
			     const struct sframe_file *f)
{
	const struct sframe_head *h = &f->sf.head;

	json_object(j, key);
	json_int(j, "version", h->version);
	json_text(j, "machine", f->sf.machine->name);
	json_int(j, "flags", h->flags);
	json_bool(j, "sorted", h->flags & SFRAME_SORTED);
	json_bool(j, "pc_relative", h->flags & SFRAME_PCREL);
	json_bool(j, "frame_pointer", h->flags & SFRAME_FRAME_POINTER);
	json_int(j, "fixed_fp", h->fixed_fp);
	json_int(j, "fixed_ra", h->fixed_ra);
	json_int(j, "aux_bytes", h->aux_len);
	json_int(j, "functions", h->funcs);
	json_int(j, "rows", h->rows);
	json_int(j, "row_bytes", h->rows_len);
	json_uint(j, "bytes", f->len);
	json_hex(j, "file_offset", f->off);
	json_hex(j, "address", f->sf.addr);
	json_bool(j, "object", f->object);
	json_end(j);
}

static void sframe_dump_json_func(void *arg, uint32_t i,
				  const struct sframe_func *f)
{
	struct sframe_dump_state *d = arg;
	struct json *j = &d->json;

	json_break(j);
	json_object(j, NULL);
	json_int(j, "index", i);
	json_hex(j, "start", f->start);
	json_int(j, "size", f->size);
	json_int(j, "repeat", f->rep);
	json_bool(j, "signal", f->signal);
	json_bool(j, "flexible", f->flex);
	json_bool(j, "key_b", f->key_b);
	json_array(j, "rows");
	d->in_func = true;
}

static void sframe_dump_json_place(struct sframe_dump_state *d,
				   const char *name,
				   const struct sframe_place *p)
{
	struct reg_text t;

	json_text(&d->json, name, sframe_dump_place(d->sf, p, &t));
}

static void sframe_dump_json_row(void *arg, const struct sframe_func *f,
				 const struct sframe_row *row,
				 const struct sframe_rule *rule)
{
	struct sframe_dump_state *d = arg;
	struct json *j = &d->json;

	json_object(j, NULL);
	json_hex(j, "pc", row_addr(f, row));
	json_bool(j, "outermost", rule->outermost);
	if (!rule->outermost) {
		sframe_dump_json_place(d, "cfa", &rule->cfa);
		sframe_dump_json_place(d, "fp", &rule->fp);
		sframe_dump_json_place(d, "ra", &rule->ra);
		json_bool(j, "signed", rule->is_signed);
	}
	json_end(j);
}

static void sframe_dump_json_end(void *arg, uint32_t i UNUSED,
				 const struct sframe_func *f UNUSED)
{
	struct sframe_dump_state *d = arg;

	json_end(&d->json);
	json_end(&d->json);
	d->in_func = false;
}

/* Called for a damaged function, before or after its first rows. */
static void sframe_dump_json_bad(void *arg, uint32_t i, const struct err *err)
{
	struct sframe_dump_state *d = arg;
	struct json *j = &d->json;

	if (d->in_func) {
		json_end(j);
	} else {
		json_break(j);
		json_object(j, NULL);
		json_int(j, "index", i);
	}
	json_text(j, "damaged", err->msg);
	json_end(j);
	d->in_func = false;
}

int sframe_dump(const char *path, const struct sframe_file *f, bool json)
{
	static const struct sframe_visitor text = {
		.func = sframe_dump_put_func,
		.row = sframe_dump_put_row,
		.bad = sframe_dump_put_bad,
	};
	struct sframe_dump_state d = { .sf = &f->sf };
	uint32_t bad;

	if (json) {
		static const struct sframe_visitor visitor = {
			.func = sframe_dump_json_func,
			.row = sframe_dump_json_row,
			.end = sframe_dump_json_end,
			.bad = sframe_dump_json_bad,
		};

		json_answer(&d.json, stdout, JSON_COMPACT);
		sframe_head_json(&d.json, "section", f);
		json_array(&d.json, "functions");
		bad = sframe_visit(&f->sf, &visitor, &d);
		json_break(&d.json);
		json_end(&d.json);
		json_finish(&d.json);
	} else {
		const struct sframe_head *h = &f->sf.head;

		safe_text_clean(stdout, path, strlen(path));
		printf(": SFrame version %u for %s, %zu bytes at file+0x%" PRIx64
		       ", address 0x%" PRIx64 "\n",
		       h->version, f->sf.machine->name, f->len, f->off,
		       f->sf.addr);
		printf("%" PRIu32 " functions, %" PRIu32 " rows in %" PRIu32
		       " bytes;%s starts count from the %s",
		       h->funcs, h->rows, h->rows_len,
		       h->flags & SFRAME_SORTED ? " sorted;" : " not sorted;",
		       h->flags & SFRAME_PCREL ? "field itself" : "section");
		fputs(h->flags & SFRAME_FRAME_POINTER ? "; frame pointers" : "",
		      stdout);
		if (h->fixed_ra)
			printf("; return address at CFA%+d", h->fixed_ra);
		if (h->fixed_fp)
			printf("; frame pointer at CFA%+d", h->fixed_fp);
		if (h->aux_len)
			printf("; auxiliary header of %u bytes", h->aux_len);
		putchar('\n');
		if (f->object)
			puts("an object file: addresses count from the start of each "
			     "function's own section");
		printf("\n  %16s  %-12s %-9s %s\n", "address", "CFA", "FP",
		       "RA");
		bad = sframe_visit(&f->sf, &text, &d);
	}
	if (bad)
		say("%" PRIu32 " of %" PRIu32 " functions are damaged\n", bad,
		    f->sf.head.funcs);
	return bad ? STATUS_DAMAGED : STATUS_OK;
}

/* ---- the results of the tests of a section */

/* Findings of each test in text. */
#define SHOWN 8
/* Findings of each test in JSON. */
#define KEPT 100000

static uint64_t sframe_check_count_errors(const struct sframe_report *r)
{
	uint64_t n = 0;

	for (unsigned int t = 0; t < SFRAME_TESTS; t++)
		n += sframe_tests[t].note ? 0 : r->found[t];
	return n;
}

static void sframe_check_put_report(const char *path,
				    const struct sframe_file *f,
				    const struct sframe_report *r)
{
	safe_text_clean(stdout, path, strlen(path));
	printf(": SFrame version %u for %s, %" PRIu32 " functions\n",
	       f->sf.head.version, f->sf.machine->name, f->sf.head.funcs);
	printf("\n  %-10s  %-6s %12s %12s\n", "test", "", "looked at", "found");
	for (unsigned int t = 0; t < SFRAME_TESTS; t++)
		printf("  %-10s  %-6s %12" PRIu64 " %12" PRIu64 " %s\n",
		       sframe_tests[t].name,
		       r->found[t]   ? sframe_tests[t].note ? "note" : "ERROR"
		       : r->asked[t] ? "ok"
				     : "-",
		       r->asked[t], r->found[t], sframe_tests[t].unit);
	if (r->no_code)
		puts("\nno code to compare with: a debug file");
	if (r->no_eh_frame)
		puts("\nno .eh_frame to compare with");
	for (size_t i = 0; i < r->n; i++) {
		const struct sframe_finding *bad = &r->finding[i];
		const struct sframe_test_info *t = &sframe_tests[bad->test];
		bool last = i + 1 == r->n || bad[1].test != bad->test;

		if (!i || bad[-1].test != bad->test)
			printf("\n%s: not so: %s\n", t->name, t->summary);
		if (bad->end > bad->start + 1)
			printf("  0x%" PRIx64 "..0x%" PRIx64 "  ", bad->start,
			       bad->end - 1);
		else if (bad->end)
			printf("  0x%" PRIx64 "  ", bad->start);
		else
			fputs("  ", stdout);
		safe_text_clean(stdout, bad->text, strlen(bad->text));
		putchar('\n');
		if (last && r->kept[bad->test] == SHOWN &&
		    r->found[bad->test] > SHOWN)
			printf("  ... %" PRIu64 " %s in all\n",
			       r->found[bad->test], t->unit);
	}
}

int sframe_check_print(const struct elf_file *ef, const struct sframe_file *f,
		       bool json, struct err *err)
{
	struct sframe_report r = { .limit = json ? KEPT : SHOWN };
	int status = -1;

	if (!sframe_check(ef, f, &r, err)) {
		if (json) {
			struct json j;

			json_answer(&j, stdout, JSON_COMPACT);
			sframe_head_json(&j, "section", f);
			json_uint(&j, "errors", sframe_check_count_errors(&r));
			json_bool(&j, "has_code", !r.no_code);
			json_bool(&j, "has_eh_frame", !r.no_eh_frame);
			json_array(&j, "tests");
			for (unsigned int t = 0; t < SFRAME_TESTS; t++) {
				const struct sframe_test_info *info =
					&sframe_tests[t];

				json_object(&j, NULL);
				json_text(&j, "test", info->name);
				json_text(&j, "summary", info->summary);
				json_bool(&j, "error", !info->note);
				json_text(&j, "unit", info->unit);
				json_uint(&j, "looked_at", r.asked[t]);
				json_uint(&j, "found", r.found[t]);
				json_end(&j);
			}
			json_end(&j);
			json_array(&j, "findings");
			for (size_t i = 0; i < r.n; i++) {
				const struct sframe_finding *item =
					&r.finding[i];

				json_object(&j, NULL);
				json_text(&j, "test",
					  sframe_tests[item->test].name);
				json_hex(&j, "start", item->start);
				json_hex(&j, "end", item->end);
				json_text(&j, "text", item->text);
				json_end(&j);
			}
			json_end(&j);
			json_finish(&j);
		} else
			sframe_check_put_report(ef->path, f, &r);
		status =
			sframe_check_count_errors(&r) ? STATUS_LOSS : STATUS_OK;
	}
	sframe_report_release(&r);
	return status;
}

/* ---- unwinding by SFrame alone, next to all tables */

/* Images in which stacks end early that are listed in text. */
#define STOPS 20

COMPARE_FUNCTION(sframe_unwind_compare_stops, struct unwind_compare_stop,
		 compare_numbers(y->n, x->n)
			 ?: x->n ? strcmp(x->path, y->path)
				 : 0);

static void sframe_unwind_put_line(const char *what, uint64_t n, uint64_t of)
{
	printf("  %-40s %10" PRIu64 "  %8s\n", what, n, HUMAN_PERCENT(n, of));
}

static void sframe_unwind_put_all(const struct unwind_compare_count *c)
{
	printf("%" PRIu64 " stack dumps\n\n", c->stacks);
	sframe_unwind_put_line("the same stack as by all tables", c->same,
			       c->stacks);
	sframe_unwind_put_line("ends early", c->early, c->stacks);
	sframe_unwind_put_line("goes further", c->late, c->stacks);
	sframe_unwind_put_line("a frame differs", c->other, c->stacks);
	putchar('\n');
	sframe_unwind_put_line("frames by all tables", c->frames, c->frames);
	sframe_unwind_put_line("the same ones by SFrame alone", c->equal,
			       c->frames);
	putchar('\n');
	sframe_unwind_put_line("outermost frame reached by all tables",
			       c->whole, c->stacks);
	sframe_unwind_put_line("by SFrame alone", c->whole_sframe, c->stacks);
	puts("\nSFrame's stacks end:");
	for (unsigned int e = 1; e < UNWIND_N; e++)
		if (c->end[e])
			sframe_unwind_put_line(unwind_end_name(e), c->end[e],
					       c->stacks);
	if (c->n)
		puts("\nwhere SFrame's stacks end before the others do:");
	for (size_t i = 0; i < c->n && i < STOPS; i++) {
		const struct unwind_compare_stop *s = &c->stop[i];
		const char *path = *s->path ? s->path : "[unknown]";

		printf("  %10" PRIu64 "  ", s->n);
		safe_text_clean(stdout, path, strlen(path));
		for (unsigned int e = 1; e < UNWIND_N; e++)
			if (s->why[e])
				printf("  %s %" PRIu64, unwind_end_name(e),
				       s->why[e]);
		putchar('\n');
	}
	if (c->n > STOPS)
		printf("  ... %zu images in all\n", c->n);
}

static void sframe_unwind_json_ends(struct json *j, const uint64_t *end)
{
	json_object(j, "ends");
	for (unsigned int e = 1; e < UNWIND_N; e++)
		if (end[e])
			json_uint(j, unwind_end_name(e), end[e]);
	json_end(j);
}

int sframe_unwind(const char *path, struct unwind_compare_count *c, bool json,
		  struct err *err)
{
	if (!c->stacks)
		return err_set(err, ERR_FORMAT,
			       "%s: has no stack dumps; 'perf record "
			       "--call-graph dwarf' takes some",
			       path);
	sort_items(c->stop, c->n, sframe_unwind_compare_stops);
	while (c->n && !c->stop[c->n - 1].n)
		c->n--;
	if (json) {
		struct json j;

		json_answer(&j, stdout, JSON_COMPACT);
		json_uint(&j, "stacks", c->stacks);
		json_uint(&j, "same", c->same);
		json_uint(&j, "early", c->early);
		json_uint(&j, "late", c->late);
		json_uint(&j, "other", c->other);
		json_uint(&j, "frames", c->frames);
		json_uint(&j, "frames_by_sframe", c->by_sframe);
		json_uint(&j, "frames_equal", c->equal);
		json_uint(&j, "outermost", c->whole);
		json_uint(&j, "outermost_by_sframe", c->whole_sframe);
		sframe_unwind_json_ends(&j, c->end);
		json_array(&j, "stops");
		for (size_t i = 0; i < c->n; i++) {
			json_object(&j, NULL);
			json_text(&j, "image", c->stop[i].path);
			json_uint(&j, "stacks", c->stop[i].n);
			sframe_unwind_json_ends(&j, c->stop[i].why);
			json_end(&j);
		}
		json_end(&j);
		json_finish(&j);
	} else
		sframe_unwind_put_all(c);
	return 0;
}
