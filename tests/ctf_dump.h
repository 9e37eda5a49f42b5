/* ctf_dump.h - prints a class tree: one line per node, children indented.
 *
 * "name: u32be align=8 base=16 =1 @2" is a big-endian number whose value goes
 * to slot 1, and whose length or selector comes from slot 2. What has its usual
 * value is left out. */
#pragma once
#include <inttypes.h>
#include <stdio.h>

#include "formats/ctf/meta/tree.h"

static const char *const ctf_dump_kinds[] = {
	"uint",		 "int",	       "bits",	      "bitmap", "bool",
	"real",		 "var-uint",   "var-int",     "string", "fixed-string",
	"length-string", "fixed-blob", "length-blob", "array",	"sequence",
	"struct",	 "variant",    "optional",
};

static const char *const ctf_dump_roles[] = {
	"",	     "magic",	    "uuid",	    "stream-class",
	"stream",    "packet-bits", "content-bits", "clock",
	"end-clock", "seq",	    "discarded",    "event-class",
};

static void ctf_dump_label(FILE *f, const struct ctf_label *l, bool is_signed)
{
	fprintf(f, " '%s'", l->name ? l->name : "");
	for (uint32_t i = 0; i < l->n_range; i++)
		fprintf(f,
			is_signed ? "%c%" PRId64 "..%" PRId64
				  : "%c%" PRIu64 "..%" PRIu64,
			i ? ',' : ':', l->range[i].lo, l->range[i].hi);
}

static void ctf_dump_text(FILE *f, const struct ctf_node *n)
{
	static const char *const encodings[] = { "utf-8", "utf-16le",
						 "utf-16be", "utf-32le",
						 "utf-32be" };

	if (n->kind >= CTF_STRING && n->kind <= CTF_LENGTH_STRING &&
	    n->encoding)
		fprintf(f, " %s", encodings[n->encoding]);
	if (n->kind == CTF_FIXED_STRING || n->kind == CTF_FIXED_BLOB ||
	    n->kind == CTF_ARRAY)
		fprintf(f, "[%" PRIu64 "]", n->count);
}

static void ctf_dump_node(FILE *f, const char *name, const struct ctf_node *n,
			  int depth)
{
	bool is_signed = n->kind == CTF_SINT || n->kind == CTF_VAR_SINT;

	fprintf(f, "%*s%s: %s", depth * 2, "", name ? name : "-",
		ctf_dump_kinds[n->kind]);
	if (n->kind <= CTF_REAL)
		fprintf(f, "%u%s", n->bits, n->big ? "be" : "le");
	ctf_dump_text(f, n);
	fprintf(f, " align=%u", n->align);
	if (n->base != 10)
		fprintf(f, " base=%u", n->base);
	if (n->reverse)
		fputs(" reverse", f);
	if (n->role)
		fprintf(f, " role=%s", ctf_dump_roles[n->role]);
	if (n->clock >= 0)
		fprintf(f, " clock=%d", n->clock);
	if (n->slot)
		fprintf(f, " =%u", n->slot);
	if (n->from)
		fprintf(f, " @%u", n->from);
	for (uint32_t i = 0; i < n->n_label; i++)
		ctf_dump_label(f, &n->label[i], is_signed);
	fputc('\n', f);
	for (uint32_t i = 0; i < n->n_child; i++) {
		if (n->choice) {
			fprintf(f, "%*s when", depth * 2 + 1, "");
			ctf_dump_label(f, &n->choice[i], n->sel_signed);
			fputc('\n', f);
		}
		ctf_dump_node(f, n->child[i].name, &n->child[i], depth + 1);
	}
}

static void ctf_dump_scope(FILE *f, const char *what, const struct ctf_node *n,
			   int depth)
{
	if (n)
		ctf_dump_node(f, what, n, depth);
}

static void ctf_dump_stream(FILE *f, const struct ctf_stream_class *s)
{
	fprintf(f, "stream %" PRIu64 " clock=%d slots=%u\n", s->id, s->clock,
		s->n_slot);
	ctf_dump_scope(f, "packet", s->packet, 1);
	ctf_dump_scope(f, "header", s->header, 1);
	ctf_dump_scope(f, "common", s->common, 1);
	for (uint32_t i = 0; i < s->n_event; i++) {
		const struct ctf_event_class *e = &s->event[i];

		fprintf(f, " event %" PRIu64 " '%s'\n", e->id,
			e->name ? e->name : "");
		ctf_dump_scope(f, "specific", e->specific, 2);
		ctf_dump_scope(f, "payload", e->payload, 2);
	}
}

static void ctf_dump(FILE *f, const struct ctf_tree *t)
{
	fprintf(f, "trace %d%s%s", t->version, t->big ? " be" : "",
		t->cut ? " cut" : "");
	for (int i = 0; i < 16 && t->has_uuid; i++)
		fprintf(f, "%s%02x", i ? "" : " ", t->uuid[i]);
	fputc('\n', f);
	for (uint32_t i = 0; i < t->n_env; i++)
		if (t->env[i].text)
			fprintf(f, "env %s = '%s'\n", t->env[i].name,
				t->env[i].text);
		else
			fprintf(f, "env %s = %" PRId64 "\n", t->env[i].name,
				t->env[i].num);
	for (uint32_t i = 0; i < t->n_clock; i++) {
		const struct ctf_clock *c = &t->clock[i];

		fprintf(f,
			"clock '%s' freq=%" PRIu64 " offset=%" PRId64
			"s+%" PRId64 "%s uid='%s'\n",
			c->name ? c->name : "", c->freq, c->offset_s, c->offset,
			c->unix_epoch ? " unix" : "", c->uid ? c->uid : "");
	}
	ctf_dump_scope(f, "packet-header", t->header, 0);
	for (uint32_t i = 0; i < t->n_stream; i++)
		ctf_dump_stream(f, &t->stream[i]);
}
