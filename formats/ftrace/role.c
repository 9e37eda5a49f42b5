/* role.c - finds what an event means to the reader, and the fields that tell
 * it. */

#include "formats/ftrace/ftrace.h"
#include "formats/tracepoint/fields.h"
#include "stitch/base/mem.h"

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

void ft_role_find(struct ft_type *t)
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
