/* meta.c - reads what surrounds the pages: the layout of pages, formats of
 * events, kallsyms, names of tasks.
 *
 * In version 6 these parts follow each other; in version 7 they are sections.
 * The contents are the same. */
#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/entry.h"
#include "formats/ftrace/ftrace.h"
#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"

#define FORMAT_MAX ((uint64_t)1 << 20)
#define IDS 65536u

static bool ft_meta_find_line(const struct bytes *b, const char *key,
			      const char **from, const char **end)
{
	const char *s = (const char *)b->pos;
	const char *stop = (const char *)b->end;
	const char *at = memmem(s, (size_t)(stop - s), key, strlen(key));

	if (!at)
		return false;
	const char *nl = memchr(at, '\n', (size_t)(stop - at));

	*from = at;
	*end = nl ? nl : stop;
	return true;
}

/* The kernel's description of its pages: the width of 'commit' (the kernel's
 * long; the file header has the recorder's long), and the size of a page. */
void ft_header_page_read(struct ft *ft, const struct bytes *text)
{
	const char *s, *end;
	uint32_t size = 0;
	uint32_t off = 0;

	if (ft_meta_find_line(text, " commit;", &s, &end) &&
	    tp_number_behind(s, end, "size:", &size))
		ft->commit32 = size == 4;
	if (!ft_meta_find_line(text, " data;", &s, &end) ||
	    !tp_number_behind(s, end, "size:", &size) ||
	    !tp_number_behind(s, end, "offset:", &off) ||
	    size > FT_SUBBUF_MAX - 64 || off > 64)
		return;
	if (size + off >= 64)
		ft->subbuf = size + off;
}

static int ft_meta_take_named(struct bytes *b, const char *want,
			      struct bytes *text, struct err *err)
{
	uint64_t at = bytes_off(b);
	const char *name;
	uint64_t n;

	if (bytes_str(b, &name, err))
		return -1;
	if (strcmp(name, want))
		return err_at(err, b->path, at, "found '%.32s', needs '%s'",
			      name, want);
	return bytes_u64(b, &n, err) || bytes_take(b, n, text, err) ? -1 : 0;
}

static int ft_meta_header_info(struct ft *ft, struct bytes *b, struct err *err)
{
	struct bytes text;

	if (ft_meta_take_named(b, "header_page", &text, err))
		return -1;
	ft_header_page_read(ft, &text);
	return ft_meta_take_named(b, "header_event", &text, err);
}

static bool ft_meta_parse_format(struct ft *ft, const char *system,
				 const struct bytes *text, struct ft_type *t)
{
	char *longer = ft_print_format(system, text);
	struct bytes b = *text;

	t->printk = longer != NULL;
	if (!longer)
		longer = ft_symbols_format(text);
	t->named = longer && !t->printk;
	if (!longer)
		longer = ft_print_raw_format(system, text);
	if (longer)
		bytes_init(&b, longer, strlen(longer), text->path,
			   bytes_off(text), false);
	bool ok = tp_format_parse(&ft->arena, system, &b, &t->fmt);

	free(longer);
	return ok;
}

/* What an event means to the reader, and the fields that tell it. */

struct ft_defer_row {
	const char *system, *name;
	enum event_role role;
	const char *at, *size, *inodes, *dev;
};

/* `at` is the field that the event must have; the others may be NULL. */
static const struct ft_defer_row rows[] = {
	{ "ftrace", "user_unwind_cookie", ROLE_COOKIE, "cookie", NULL, NULL,
	  NULL },
	{ "ftrace", "user_unwind_stack", ROLE_CHAIN, "stack", "cookie",
	  "inodes", "dev" },
	{ "inode_cache", "inode_cache", ROLE_INODE, "inode", "path", NULL,
	  "dev" },
	{ "ftrace", "print", ROLE_MARKER, "buf", NULL, NULL, NULL },
};

static void ft_role_defer_parts(struct ft_type *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct ft_defer_row *r = &rows[i];

		if (strcmp(r->system, t->fmt.system) || !t->fmt.name ||
		    strcmp(r->name, t->fmt.name))
			continue;
		t->part.at = tp_field_index(&t->fmt, r->at);
		t->part.size = tp_field_index(&t->fmt, r->size);
		t->part.inodes = tp_field_index(&t->fmt, r->inodes);
		t->part.dev = tp_field_index(&t->fmt, r->dev);
		if (t->part.at >= 0 && (!r->size || t->part.size >= 0))
			t->role = r->role;
		return;
	}
}

static void ft_role_stack_parts(struct ft_type *t)
{
	int caller = tp_field_index(&t->fmt, "caller");

	if (caller < 0) {
		t->role = ROLE_PLAIN;
		return;
	}
	t->part.at = (int)(t->fmt.field[caller].off & INT32_MAX);
	t->part.size = tp_field_index(&t->fmt,
				      t->role == ROLE_KSTACK ? "size" : "tgid");
}

static void ft_role_task_parts(struct ft_type *t)
{
	const struct task_fields *f =
		task_fields_find(t->fmt.system, t->fmt.name);

	if (!f)
		return;
	int tid = tp_field_index(&t->fmt, f->tid);
	int name = tp_field_index(&t->fmt, f->name);

	if (f->role == ROLE_NAMED && (tid < 0 || name < 0))
		return;
	t->role = f->role;
	t->part.pid = tid;
	t->part.comm = name;
	t->part.pid2 = tp_field_index(&t->fmt, f->tid2);
	t->part.comm2 = tp_field_index(&t->fmt, f->name2);
	t->part.state = tp_field_index(&t->fmt, f->extra);
}

/* Sets role and part of a type from its format. */
static void ft_role_find(struct ft_type *t)
{
	const char *name = t->fmt.name ? t->fmt.name : "";

	t->part = (struct ft_parts){ -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	if (!strcmp(t->fmt.system, "ftrace")) {
		if (!strcmp(name, "kernel_stack"))
			t->role = ROLE_KSTACK;
		else if (!strcmp(name, "user_stack"))
			t->role = ROLE_USTACK;
		if (t->role != ROLE_PLAIN) {
			ft_role_stack_parts(t);
			return;
		}
	}
	ft_role_defer_parts(t);
	if (t->role == ROLE_PLAIN)
		ft_role_task_parts(t);
}

void ft_format_add(struct ft *ft, const char *system, const struct bytes *text)
{
	struct ft_type t = { .role = ROLE_PLAIN };

	if (bytes_left(text) > FORMAT_MAX ||
	    !ft_meta_parse_format(ft, system, text, &t)) {
		ft->unread_formats = true;
		ledger_skip(ft->src.ledger, ft->src.index, "event format", 0,
			    bytes_off(text), NULL);
		return;
	}
	if (t.fmt.id >= IDS || ft->by_id[t.fmt.id]) {
		tp_format_release(&t.fmt);
		return;
	}
	ft_role_find(&t);
	ft_entry_set_size(&t);
	*mem_add(ft->type, ft->n_type, ft->cap_type) = t;
	ft->by_id[t.fmt.id] = (uint32_t)ft->n_type;
}

static int ft_meta_take_formats(struct ft *ft, const char *system,
				struct bytes *b, struct err *err)
{
	struct bytes text;
	struct err why;
	uint32_t count;
	uint64_t n;

	if (bytes_u32(b, &count, err))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		if (bytes_u64(b, &n, err) || bytes_take(b, n, &text, err))
			return -1;
		if (tp_format_check(system, &text, &why))
			reader_damage(&ft->src, "format", bytes_off(&text), n,
				      &why);
		ft_format_add(ft, system, &text);
	}
	return 0;
}

static int ft_meta_take_systems(struct ft *ft, struct bytes *b, struct err *err)
{
	const char *system;
	uint32_t count;

	if (bytes_u32(b, &count, err))
		return -1;
	for (uint32_t i = 0; i < count; i++)
		if (bytes_str(b, &system, err) ||
		    ft_meta_take_formats(ft, system, b, err))
			return -1;
	return 0;
}

/* Takes a text after its size, which has 8 bytes if `wide`, otherwise 4.
 * trace-cmd (seen with 3.1) asks a file of the kernel for its size, then copies
 * it; threads and functions of BPF come and go in between. Version 7 puts the
 * text into a section: where the size is another, *text has the whole lines of
 * the section, also if this returns -1. */
static int ft_meta_take_text(const struct ft *ft, struct bytes *b, bool wide,
			     struct bytes *text, struct err *err)
{
	uint32_t n32 = 0;
	uint64_t n = 0;

	*text = *b;
	text->end = text->pos;
	if (wide ? bytes_u64(b, &n, err) : bytes_u32(b, &n32, err))
		return -1;
	n += n32;
	if (ft->version < 7 || n == bytes_left(b))
		return bytes_take(b, n, text, err);
	*text = *b;
	while (bytes_left(text) && text->end[-1] != '\n')
		text->end--;
	return bytes_skip(b, n, err);
}

int ft_meta_read(struct ft *ft, uint16_t id, struct bytes *b, struct err *err)
{
	struct bytes text;
	int rc;

	if (id < FT_KNOWN)
		ft->have[id] = true;
	switch (id) {
	case FT_HEADER_INFO:
		return ft_meta_header_info(ft, b, err);
	case FT_FTRACE_EVENTS:
		return ft_meta_take_formats(ft, "ftrace", b, err);
	case FT_EVENT_FORMATS:
		return ft_meta_take_systems(ft, b, err);
	case FT_KALLSYMS:
		rc = ft_meta_take_text(ft, b, false, &text, err);
		if (bytes_left(&text) && !ft->kallsyms) {
			ft->kallsyms_len = bytes_left(&text);
			ft->kallsyms = mem_dup(text.pos, bytes_left(&text));
		}
		return rc;
	case FT_PRINTK:
		rc = ft_meta_take_text(ft, b, false, &text, err);
		ft_print_read_formats(ft, &text);
		return rc;
	case FT_CMDLINES:
		rc = ft_meta_take_text(ft, b, true, &text, err);
		ft_names_read(ft, &text);
		return rc;
	default:
		return 0;
	}
}
