/* sframe_dump.c - an SFrame section as text or JSON. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "cli/output/safe_text.h"
#include "cli/tables/sframe.h"
#include "stitch/base/err.h"
#include "symbolize/sframe/sframe_file.h"
#include "symbolize/sframe/sframe_table.h"

struct dump {
	const struct sframe *sf;
	struct json_object *rows, *func; /* JSON only */
	bool more;			 /* a function was printed */
};

struct text {
	char s[96]; /* a name and an offset */
};

static const char *reg_name(const struct sframe *sf, uint32_t reg,
			    struct text *t)
{
	if (reg == SFRAME_CFA)
		return "c";
	if (reg == sframe_sp(sf))
		return "sp";
	if (reg == sframe_fp(sf))
		return "fp";
	snprintf(t->s, sizeof(t->s), "r%" PRIu32, reg);
	return t->s;
}

/* As objdump has it, which has no form for a value that counts from the CFA:
 * "c-16" is what lies there. */
static const char *place_text(const struct sframe *sf,
			      const struct sframe_place *p, struct text *t)
{
	struct text reg;
	const char *name;

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
	name = reg_name(sf, p->reg, &reg);
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

static void text_func(void *arg, uint32_t i, const struct sframe_func *f)
{
	(void)arg;
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

static void text_row(void *arg, const struct sframe_func *f,
		     const struct sframe_row *row,
		     const struct sframe_rule *rule)
{
	struct dump *d = arg;
	struct text cfa;
	struct text fp;
	struct text ra;

	printf("  %16" PRIx64, row_addr(f, row));
	if (rule->outermost) {
		puts("  outermost");
		return;
	}
	printf("  %-12s %-9s %s%s\n", place_text(d->sf, &rule->cfa, &cfa),
	       place_text(d->sf, &rule->fp, &fp),
	       place_text(d->sf, &rule->ra, &ra), rule->is_signed ? "[s]" : "");
}

static void text_bad(void *arg, uint32_t i, const struct err *err)
{
	(void)arg;
	(void)i;
	fputs("  damaged: ", stdout);
	safe_text_clean(stdout, err->msg, strlen(err->msg), NULL);
	putchar('\n');
}

static void text_head(const char *path, const struct sframe_file *f)
{
	const struct sframe_head *h = &f->sf.head;

	safe_text_clean(stdout, path, strlen(path), NULL);
	printf(": SFrame version %u for %s, %zu bytes at file+0x%" PRIx64
	       ", address 0x%" PRIx64 "\n",
	       h->version, sframe_abi_name(&f->sf), f->len, f->off, f->sf.addr);
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
	printf("\n  %16s  %-12s %-9s %s\n", "address", "CFA", "FP", "RA");
}

/* ---- JSON */

struct json_object *sframe_json_hex(uint64_t v)
{
	char s[24];

	snprintf(s, sizeof(s), "0x%" PRIx64, v);
	return json_object_new_string(s);
}

static void add_bool(struct json_object *o, const char *name, bool v)
{
	json_object_object_add(o, name, json_object_new_boolean(v));
}

static void add_int(struct json_object *o, const char *name, int64_t v)
{
	json_object_object_add(o, name, json_object_new_int64(v));
}

struct json_object *sframe_head_json(const struct sframe_file *f)
{
	const struct sframe_head *h = &f->sf.head;
	struct json_object *o = json_object_new_object();

	add_int(o, "version", h->version);
	json_object_object_add(o, "machine",
			       json_object_new_string(sframe_abi_name(&f->sf)));
	add_int(o, "flags", h->flags);
	add_bool(o, "sorted", h->flags & SFRAME_SORTED);
	add_bool(o, "pc_relative", h->flags & SFRAME_PCREL);
	add_bool(o, "frame_pointer", h->flags & SFRAME_FRAME_POINTER);
	add_int(o, "fixed_fp", h->fixed_fp);
	add_int(o, "fixed_ra", h->fixed_ra);
	add_int(o, "aux_bytes", h->aux_len);
	add_int(o, "functions", h->funcs);
	add_int(o, "rows", h->rows);
	add_int(o, "row_bytes", h->rows_len);
	add_int(o, "bytes", (int64_t)f->len);
	json_object_object_add(o, "file_offset", sframe_json_hex(f->off));
	json_object_object_add(o, "address", sframe_json_hex(f->sf.addr));
	add_bool(o, "object", f->object);
	return o;
}

static void json_func(void *arg, uint32_t i, const struct sframe_func *f)
{
	struct dump *d = arg;

	d->func = json_object_new_object();
	d->rows = json_object_new_array();
	add_int(d->func, "index", i);
	json_object_object_add(d->func, "start", sframe_json_hex(f->start));
	add_int(d->func, "size", f->size);
	add_int(d->func, "repeat", f->rep);
	add_bool(d->func, "signal", f->signal);
	add_bool(d->func, "flexible", f->flex);
	add_bool(d->func, "key_b", f->key_b);
	json_object_object_add(d->func, "rows", d->rows);
}

static void add_place(struct dump *d, struct json_object *o, const char *name,
		      const struct sframe_place *p)
{
	struct text t;

	json_object_object_add(
		o, name, json_object_new_string(place_text(d->sf, p, &t)));
}

static void json_row(void *arg, const struct sframe_func *f,
		     const struct sframe_row *row,
		     const struct sframe_rule *rule)
{
	struct dump *d = arg;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "pc", sframe_json_hex(row_addr(f, row)));
	add_bool(o, "outermost", rule->outermost);
	if (!rule->outermost) {
		add_place(d, o, "cfa", &rule->cfa);
		add_place(d, o, "fp", &rule->fp);
		add_place(d, o, "ra", &rule->ra);
		add_bool(o, "signed", rule->is_signed);
	}
	json_object_array_add(d->rows, o);
}

static void json_end(void *arg, uint32_t i, const struct sframe_func *f)
{
	struct dump *d = arg;

	(void)i;
	(void)f;
	if (d->more)
		putchar(',');
	putchar('\n');
	output_json_put(stdout, d->func, false);
	json_object_put(d->func);
	d->func = NULL;
	d->more = true;
}

static void json_bad(void *arg, uint32_t i, const struct err *err)
{
	struct dump *d = arg;

	if (!d->func) {
		d->func = json_object_new_object();
		add_int(d->func, "index", i);
	}
	json_object_object_add(d->func, "damaged",
			       output_json_text(err->msg, strlen(err->msg)));
	json_end(d, i, NULL);
}

int sframe_dump(const char *path, const struct sframe_file *f, bool json)
{
	static const struct sframe_visitor text = {
		.func = text_func,
		.row = text_row,
		.bad = text_bad,
	};
	static const struct sframe_visitor js = {
		.func = json_func,
		.row = json_row,
		.end = json_end,
		.bad = json_bad,
	};
	struct dump d = { .sf = &f->sf };
	uint32_t bad;

	if (json) {
		struct json_object *head = sframe_head_json(f);

		fputs("{\"section\":", stdout);
		output_json_put(stdout, head, false);
		json_object_put(head);
		fputs(",\"functions\":[", stdout);
	} else {
		text_head(path, f);
	}
	bad = sframe_visit(&f->sf, json ? &js : &text, &d);
	if (json)
		puts("\n]}");
	if (bad)
		fprintf(stderr,
			"%" PRIu32 " of %" PRIu32 " functions are damaged\n",
			bad, f->sf.head.funcs);
	return bad ? STATUS_DAMAGED : STATUS_OK;
}
