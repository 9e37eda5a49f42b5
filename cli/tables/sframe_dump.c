/* sframe_dump.c - an SFrame section as text or JSON. */
#include <inttypes.h>

#include "cli/args/status.h"
#include "cli/output/json_rows.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/tables/sframe.h"
#include "stitch/base/err.h"
#include "symbolize/sframe/sframe_file.h"
#include "stitch/base/mem.h"

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

void sframe_head_json(struct json *j, const char *key,
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
