/* flame_nodes.c - adds up the stacks of samples in a tree of names; flame()
 * returns the tree, one row per node. */
#include "schema/functions/flame_nodes.h"

#include "schema/columns.h"
#include "schema/db/queries.h"
#include "schema/functions/functions.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/verdict.h"

struct flame_place {
	uint32_t node, stack; /* the stack begins below node */
	uint32_t end;	      /* the node of its last frame */
};

struct flame_nodes *flame_nodes_new(void)
{
	return mem_new(1, sizeof(struct flame_nodes));
}

void flame_nodes_free(struct flame_nodes *t)
{
	if (!t)
		return;
	intern_release(&t->names);
	table_release(&t->items);
	table_release(&t->places);
	free_all(t->stack, t->frame, t->part, t->item, t->place, t->todo, t);
}

void flame_nodes_frame(struct flame_nodes *t, const char *label,
		       const char *image)
{
	struct flame_frame f = { .part = (uint32_t)t->n_part,
				 .image = FLAME_ROOT };

	if (image)
		f.image = intern_add(&t->names, image);
	for (const char *s = label; s;) {
		size_t len = strcspn(s, ";");

		*mem_add(t->part, t->n_part, t->cap_part) =
			intern_add_bytes(&t->names, s, len);
		f.n++;
		s = s[len] ? s + len + 1 : NULL;
	}
	*mem_add(t->frame, t->n_frame, t->cap_frame) = f;
}

int flame_nodes_stack(struct flame_nodes *t, int64_t parent, int64_t frame,
		      bool callerless)
{
	if (parent < 0 || (uint64_t)parent > t->n_stack || frame < 1 ||
	    (uint64_t)frame > t->n_frame)
		return -1;
	*mem_add(t->stack, t->n_stack, t->cap_stack) =
		(struct flame_stack){ (uint32_t)parent, (uint32_t)frame,
				      callerless };
	return 0;
}

SAME_BY(flame_nodes_same_item, struct flame_nodes, item[id], struct flame_item,
	parent, name, image);

uint32_t flame_nodes_child(struct flame_nodes *t, uint32_t node, uint32_t name,
			   uint32_t image)
{
	const struct flame_item added = {
		.name = name,
		.image = image,
		.parent = node,
		.depth = node == FLAME_ROOT ? 0 : t->item[node].depth + 1,
	};
	uint64_t h = hash_pair(node, (uint64_t)name << 32 | image);
	uint32_t id =
		table_find(&t->items, h, flame_nodes_same_item, t, &added);

	if (id != TABLE_NONE)
		return id;
	if (t->n_item >= FLAME_NODES_MAX)
		return FLAME_ROOT;
	id = (uint32_t)t->n_item;
	*mem_add(t->item, t->n_item, t->cap_item) = added;
	table_add(&t->items, h, id);
	return id;
}

/* Returns the node of the stack's last frame below node `at`. Inlined functions
 * are nodes too. */
static uint32_t flame_nodes_step_in(struct flame_nodes *t, uint32_t at,
				    uint32_t stack)
{
	const struct flame_frame *f = &t->frame[t->stack[stack - 1].frame - 1];

	for (uint32_t i = 0; i < f->n && at != FLAME_ROOT; i++)
		at = flame_nodes_child(t, at, t->part[f->part + i], f->image);
	return at;
}

uint32_t flame_nodes_place(struct flame_nodes *t, uint32_t node, uint32_t stack)
{
	struct flame_place p = { .node = node, .end = node };
	size_t n = 0;

	/* go to callers, up to a stack whose place is known */
	for (; stack; stack = t->stack[stack - 1].parent) {
		p.stack = stack;
		uint32_t id =
			table_find_hash(&t->places, hash_u32s(node, stack));

		if (id != TABLE_NONE) {
			p.end = t->place[id].end;
			break;
		}
		*mem_add(t->todo, n, t->cap_todo) = stack;
	}
	/* and back to the innermost */
	while (n > 0) {
		p.stack = t->todo[--n];
		p.end = flame_nodes_step_in(t, p.end, p.stack);
		if (p.end == FLAME_ROOT)
			return FLAME_ROOT;
		table_add(&t->places, hash_u32s(node, p.stack),
			  (uint32_t)t->n_place);
		*mem_add(t->place, t->n_place, t->cap_place) = p;
	}
	return p.end;
}

uint32_t flame_nodes_place_marked(struct flame_nodes *t, uint32_t node,
				  uint32_t stack)
{
	const struct flame_stack *s = stack ? &t->stack[stack - 1] : NULL;

	if (!s || !s->callerless || !s->parent)
		return flame_nodes_place(t, node, stack);
	uint32_t at = flame_nodes_place(t, node, s->parent);
	if (at != FLAME_ROOT)
		at = flame_nodes_child(
			t, at, intern_add(&t->names, "[caller missing]"),
			FLAME_ROOT);
	return at == FLAME_ROOT ? at : flame_nodes_step_in(t, at, stack);
}

/* The heaviest child is last. */
static int flame_nodes_by_weight(const void *a, const void *b, void *arg)
{
	const struct flame_nodes *t = arg;
	const struct flame_item *x = &t->item[*(const uint32_t *)a];
	const struct flame_item *y = &t->item[*(const uint32_t *)b];

	return compare_numbers(x->parent, y->parent)
		       ?: compare_numbers(x->weight, y->weight)
		       ?: strcmp(intern_get(&t->names, y->name),
				 intern_get(&t->names, x->name))
		       ?: compare_numbers(y->image, x->image);
}

int flame_nodes_finish(struct flame_nodes *t)
{
	size_t n = t->n_item;

	/* Add the weights of children to their parents, which have lower
	 * numbers. */
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		t->item[i].weight = t->item[i].self;
	for (size_t i = n; i-- > 0;) {
		const struct flame_item *x = &t->item[i];
		bool top = x->parent == FLAME_ROOT;
		uint64_t *to = top ? &all : &t->item[x->parent].weight;

		if (__builtin_add_overflow(*to, x->weight, to) ||
		    *to > INT64_MAX)
			return -1;
		if (!top)
			t->item[x->parent].samples += x->samples;
	}
	/* the children of each parent, one after the other from first[] on; n:
	 * of no parent */
	uint32_t *list = mem_new(n + 1, sizeof(*list));
	uint32_t *first = mem_new(n + 1, sizeof(*first));
	uint32_t *left = mem_new(n + 1, sizeof(*left)); /* still to visit */
	uint32_t *now = mem_new(n + 1, sizeof(*now));	/* old number -> new */
	struct flame_item *item = mem_new(n + 1, sizeof(*item));

	for (size_t i = 0; i <= n; i++)
		first[i] = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		list[i] = (uint32_t)i;
	qsort_r(list, n, sizeof(*list), flame_nodes_by_weight, t);
	for (size_t i = n; i-- > 0;) {
		uint32_t parent = t->item[list[i]].parent;

		first[parent == FLAME_ROOT ? n : parent] = (uint32_t)i;
	}
	/* depth first: the node that was added last is next */
	uint32_t at = FLAME_ROOT;
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = first[at == FLAME_ROOT ? n : at];
		     k < n && t->item[list[k]].parent == at; k++)
			left[n_left++] = list[k];
		at = left[--n_left];
		now[at] = (uint32_t)i;
		item[i] = t->item[at];
		if (item[i].parent != FLAME_ROOT)
			item[i].parent = now[item[i].parent];
	}
	free(t->item);
	t->item = item;
	t->cap_item = n + 1;
	free_all(list, first, left, now);
	return 0;
}

/* Samples are read from sample_group, which has them added up; with PID, FROM
 * or TO from event. */

enum {
	ARG_EVENT,
	ARG_COMM,
	ARG_CAPTURE,
	ARG_PID,
	ARG_FROM,
	ARG_TO,
	ARGS
};

/* A tree being loaded. */
struct flame_load {
	struct flame_nodes *t;
	sqlite3 *db;
	sqlite3_value **arg;
	char *message; /* of an error; NULL: that of the connection */
};

static int flame_fault(struct flame_load *l, char *message)
{
	l->message = message;
	return SQLITE_ERROR;
}

typedef int flame_row_fn(struct flame_load *l, sqlite3_stmt *st);

/* Calls fn for each row of a query. Returns an SQLite result code. */
static int flame_each_row(struct flame_load *l, const char *query,
			  flame_row_fn *fn)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(l->db, store_sql(query), -1, &st, NULL);

	for (int i = 0; !rc && i < ARGS; i++)
		if (l->arg[i] && i < sqlite3_bind_parameter_count(st))
			rc = sqlite3_bind_value(st, i + 1, l->arg[i]);
	while (!rc) {
		rc = sqlite3_step(st);
		if (rc == SQLITE_ROW)
			rc = fn(l, st);
	}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Frames and stacks are arrays by id: the ids must be 1, 2, 3 ... */
static int flame_next_frame(struct flame_load *l, sqlite3_stmt *st)
{
	if (sqlite3_column_int64(st, FN_FLAME_FRAMES_ID) !=
	    (sqlite3_int64)l->t->n_frame + 1)
		return flame_fault(l,
				   sqlite3_mprintf("the database is damaged: "
						   "frame %llu",
						   l->t->n_frame + 1ull));
	const char *label = db_column_text(st, FN_FLAME_FRAMES_NAME);

	flame_nodes_frame(l->t, label ? label : "[unknown]",
			  db_column_text(st, FN_FLAME_FRAMES_PATH));
	return SQLITE_OK;
}

static int flame_next_stack(struct flame_load *l, sqlite3_stmt *st)
{
	if (sqlite3_column_int64(st, FN_FLAME_STACKS_ID) !=
		    (sqlite3_int64)l->t->n_stack + 1 ||
	    flame_nodes_stack(
		    l->t, sqlite3_column_int64(st, FN_FLAME_STACKS_PARENT),
		    sqlite3_column_int64(st, FN_FLAME_STACKS_FRAME),
		    sqlite3_column_int(st, FN_FLAME_STACKS_CALLERLESS) != 0))
		return flame_fault(l,
				   sqlite3_mprintf("the database is damaged: "
						   "stack %llu",
						   l->t->n_stack + 1ull));
	return SQLITE_OK;
}

/* The name of the node for a mark, e.g. '[user: exit_per_task]'. */
struct flame_mark {
	sqlite3_int64 id;
	uint32_t name;
	bool kernel;
};

struct flame_marks {
	struct flame_load l;
	struct flame_mark *mark;
	size_t n, cap;
};

static int flame_next_word(struct flame_load *l, sqlite3_stmt *st)
{
	struct flame_marks *m = (struct flame_marks *)l;
	const char *word = db_column_text(st, FN_FLAME_WORDS_NAME);
	const char *half = db_column_text(st, FN_FLAME_WORDS_HALF);
	char *name = sqlite3_mprintf("[%s: %s]", half ? half : "?",
				     word ? word : "?");

	if (!name)
		return SQLITE_NOMEM;
	*mem_add(m->mark, m->n, m->cap) = (struct flame_mark){
		sqlite3_column_int64(st, FN_FLAME_WORDS_MARK),
		intern_add(&l->t->names, name),
		half && !strcmp(half, "kernel"),
	};
	sqlite3_free(name);
	return SQLITE_OK;
}

/* Returns the node of a mark below node, or node if there is no such mark. */
static uint32_t flame_put_mark(struct flame_marks *m, uint32_t node,
			       sqlite3_int64 id, bool kernel)
{
	for (size_t i = 0; id && i < m->n; i++)
		if (m->mark[i].id == id && m->mark[i].kernel == kernel)
			return flame_nodes_child(m->l.t, node, m->mark[i].name,
						 FLAME_ROOT);
	return node;
}

/* Returns the stack in column i, or 0 if there is no such stack. */
static uint32_t flame_stack_id(const struct flame_nodes *t, sqlite3_stmt *st,
			       int i)
{
	sqlite3_int64 id = sqlite3_column_int64(st, i);

	return id > 0 && (uint64_t)id <= t->n_stack ? (uint32_t)id : 0;
}

static int flame_next_group(struct flame_load *l, sqlite3_stmt *st)
{
	struct flame_nodes *t = l->t;
	const char *comm = db_column_text(st, FN_FLAME_GROUPS_COMM);
	sqlite3_int64 weight = sqlite3_column_int64(st, FN_FLAME_GROUPS_WEIGHT);
	sqlite3_int64 n = sqlite3_column_int64(st, FN_FLAME_GROUPS_N);
	sqlite3_int64 mark = sqlite3_column_int64(st, FN_FLAME_GROUPS_MARK);
	uint32_t user = flame_stack_id(t, st, FN_FLAME_GROUPS_USER);

	comm = comm ? comm : "[unknown]";
	uint32_t at = flame_nodes_child(
		t, FLAME_ROOT, intern_add(&t->names, comm), FLAME_ROOT);
	if (at != FLAME_ROOT)
		at = flame_put_mark((struct flame_marks *)l, at, mark, false);
	if (at != FLAME_ROOT)
		at = mark > MARK_ENDED ? flame_nodes_place(t, at, user)
				       : flame_nodes_place_marked(t, at, user);
	if (at != FLAME_ROOT)
		at = flame_put_mark(
			(struct flame_marks *)l, at,
			sqlite3_column_int64(st, FN_FLAME_GROUPS_KERNEL_MARK),
			true);
	if (at != FLAME_ROOT)
		at = flame_nodes_place(
			t, at, flame_stack_id(t, st, FN_FLAME_GROUPS_KERNEL));
	if (at == FLAME_ROOT)
		return flame_fault(
			l, sqlite3_mprintf("flame(): more than %u nodes; "
					   "ask for one comm or time",
					   FLAME_NODES_MAX));
	if (weight < 0 || n < 0 ||
	    __builtin_add_overflow(t->item[at].self, (uint64_t)weight,
				   &t->item[at].self))
		return flame_fault(
			l, sqlite3_mprintf("flame(): the weights do not "
					   "fit 64 bits"));
	t->item[at].samples += (uint64_t)n;
	return SQLITE_OK;
}

static int flame_next(struct table_call *c, char **message UNUSED)
{
	const struct flame_nodes *t = c->data;

	c->end = (uint64_t)c->row >= t->n_item;
	return SQLITE_OK;
}

static void flame_close(struct table_call *c)
{
	flame_nodes_free(c->data);
	c->data = NULL;
}

static int flame_filter(struct table_call *c, sqlite3_value **arg,
			char **message)
{
	struct flame_marks m = { .l = { .db = c->fs->db, .arg = arg } };

	flame_close(c);
	if (!functions_enter(c->fs, "flame()", message))
		return SQLITE_ERROR;
	c->data = m.l.t = flame_nodes_new();
	struct flame_load *l = &m.l;
	sqlite3_value *event = NULL;
	bool some = l->arg[ARG_PID] || l->arg[ARG_FROM] || l->arg[ARG_TO];
	int rc = SQLITE_OK;

	if (!l->arg[ARG_EVENT] ||
	    sqlite3_value_type(l->arg[ARG_EVENT]) == SQLITE_NULL) {
		/* the event to take if the caller named none; NULL if there
		 * are no samples */
		sqlite3_stmt *st = NULL;
		int ret = sqlite3_prepare_v2(l->db, store_sql("fn_flame_event"),
					     -1, &st, NULL);

		if (!ret)
			ret = sqlite3_step(st);
		if (ret == SQLITE_ROW)
			event = sqlite3_value_dup(
				sqlite3_column_value(st, FN_FLAME_EVENT_NAME));
		sqlite3_finalize(st);
		rc = ret == SQLITE_ROW || ret == SQLITE_DONE ? SQLITE_OK : ret;
		l->arg[ARG_EVENT] = event;
	}
	if (!rc)
		rc = flame_each_row(l, "fn_flame_frames", flame_next_frame);
	if (!rc)
		rc = flame_each_row(l, "fn_flame_stacks", flame_next_stack);
	if (!rc)
		rc = flame_each_row(l, "fn_flame_words", flame_next_word);
	if (!rc)
		rc = flame_each_row(
			l, some ? "fn_flame_events" : "fn_flame_groups",
			flame_next_group);
	if (!rc && flame_nodes_finish(l->t))
		rc = flame_fault(
			l, sqlite3_mprintf("flame(): the weights do not fit "
					   "64 bits"));
	sqlite3_value_free(event);

	functions_leave(c->fs);
	free(m.mark);
	*message = m.l.message;
	return rc ? rc : flame_next(c, message);
}

enum {
	ID,
	PARENT,
	DEPTH,
	NAME,
	IMAGE,
	WEIGHT,
	SELF,
	SAMPLES,
	COLUMNS
};

static void flame_column(const struct table_call *c, sqlite3_context *ctx,
			 int i)
{
	const struct flame_nodes *t = c->data;
	const struct flame_item *x = &t->item[c->row];

	const sqlite3_int64 number[COLUMNS] = {
		[ID] = c->row + 1,
		[PARENT] = (sqlite3_int64)x->parent + 1,
		[DEPTH] = x->depth,
		[WEIGHT] = (sqlite3_int64)x->weight,
		[SELF] = (sqlite3_int64)x->self,
		[SAMPLES] = (sqlite3_int64)x->samples,
	};
	uint32_t text = i == NAME ? x->name : x->image;

	if (i == PARENT && x->parent == FLAME_ROOT)
		return;
	if (i != NAME && i != IMAGE)
		sqlite3_result_int64(ctx, number[i]);
	else if (text != FLAME_ROOT)
		sqlite3_result_text(ctx, intern_get(&t->names, text), -1,
				    SQLITE_TRANSIENT);
}

const struct table_function flame_function = {
	.columns = "CREATE TABLE x(id INTEGER, parent INTEGER, depth INTEGER, "
		   "name TEXT, image TEXT, weight INTEGER, self INTEGER, "
		   "samples INTEGER, event HIDDEN, comm HIDDEN, "
		   "capture HIDDEN, pid HIDDEN, \"from\" HIDDEN, "
		   "\"to\" HIDDEN)",
	.n_columns = COLUMNS,
	.n_args = ARGS,
	.filter = flame_filter,
	.next = flame_next,
	.column = flame_column,
	.close = flame_close,
};
