/* merge_groups.c - adds up the sums of samples of merged databases. */
#include <stdlib.h>

#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/write/writing.h"
#include "stitch/verdict.h"

struct group_sum {
	struct merge_group key;
	int64_t weight, n;
};

struct merge_groups {
	struct group_sum *sum;
	size_t n, cap;
	struct table index;
	struct intern names;
	uint32_t *first; /* by name: the first comm that has it */
	size_t n_first, cap_first;
	struct merge_map comm; /* a comm to the first of its name */
};

struct merge_groups *merge_groups_new(void)
{
	return mem_new(1, sizeof(struct merge_groups));
}

void merge_groups_free(struct merge_groups *g)
{
	if (!g)
		return;
	table_release(&g->index);
	intern_release(&g->names);
	free_all(g->sum, g->first, g->comm.id, g);
}

void merge_groups_comm(struct merge_groups *g, uint32_t comm, const char *name)
{
	uint32_t i = intern_add(&g->names, name);

	mem_reach(g->first, g->n_first, g->cap_first, (size_t)i + 1);
	if (!g->first[i])
		g->first[i] = comm;
	merge_map_put(&g->comm, comm, g->first[i]);
}

void merge_group_join(struct merge_group *g, uint32_t user, bool after_exec)
{
	g->user = user;
	g->mark = 0;
	if (!user)
		g->mark = -REQ_EMPTY;
	else if (after_exec)
		g->mark = MARK_EXEC;
}

SAME_FUNCTION(group_is_same, struct merge_groups, sum[id].key,
	      struct merge_group,
	      x->type == y->type && x->comm == y->comm &&
		      x->kernel == y->kernel && x->user == y->user &&
		      x->mark == y->mark && x->kernel_mark == y->kernel_mark &&
		      x->weighs == y->weighs);

void merge_groups_add(struct merge_groups *g, const struct merge_group *key,
		      int64_t weight, int64_t n)
{
	struct merge_group k = *key;

	if (k.comm)
		k.comm = merge_map_get(&g->comm, k.comm);
	uint64_t h = hash_pair((uint64_t)k.kernel << 32 | k.user,
			       ((uint64_t)k.type << 32 | k.comm) ^
				       (uint64_t)(uint32_t)k.mark << 24 ^
				       (uint64_t)(uint32_t)k.kernel_mark << 1 ^
				       k.weighs);
	uint32_t at = table_find(&g->index, h, group_is_same, g, &k);

	if (at == TABLE_NONE) {
		at = (uint32_t)g->n;
		table_add(&g->index, h, at);
		*mem_add(g->sum, g->n, g->cap) = (struct group_sum){ .key = k };
	}
	/* the sums of a damaged database may be anything */
	g->sum[at].weight =
		(int64_t)((uint64_t)g->sum[at].weight + (uint64_t)weight);
	g->sum[at].n = (int64_t)((uint64_t)g->sum[at].n + (uint64_t)n);
}

void merge_groups_leave(struct merge_groups *g, const struct merge_group *key,
			int64_t weight)
{
	merge_groups_add(g, key, (int64_t)(0 - (uint64_t)weight), -1);
}

static int merge_groups_take_row(struct merge *m, struct merge_part *p UNUSED,
				 const struct rows *r, struct value *v,
				 struct err *err UNUSED)
{
	struct merge_groups *g = m->groups;
	struct merge_group key = {
		.type = (uint32_t)v[MERGE_GROUPS_EVENT_TYPE].num,
		.comm = (uint32_t)v[MERGE_GROUPS_COMM].num,
		.kernel = (uint32_t)v[MERGE_GROUPS_KERNEL].num,
		.user = (uint32_t)v[MERGE_GROUPS_USER].num,
		.mark = (int32_t)rows_int(r, MERGE_GROUPS_MARK),
		.kernel_mark = (int32_t)rows_int(r, MERGE_GROUPS_KERNEL_MARK),
		.weighs = v[MERGE_GROUPS_WEIGHT].kind == VALUE_INT,
	};

	/* the comm is the first one of its name in its database, so that it may
	 * be of a capture that is left out */
	if (!key.comm && rows_int(r, MERGE_GROUPS_COMM)) {
		uint32_t i =
			intern_add(&g->names, rows_text(r, MERGE_GROUPS_NAME));

		key.comm = i < g->n_first ? g->first[i] : 0;
	}
	if (key.type)
		merge_groups_add(g, &key, v[MERGE_GROUPS_WEIGHT].num,
				 rows_int(r, MERGE_GROUPS_N));
	return 0;
}

int merge_groups_take(struct merge *m, struct merge_part *p, struct err *err)
{
	static const struct merge_copy groups = {
		"merge_groups", .take = merge_groups_take_row
	};

	return merge_copy_rows(m, p, &groups, 1, err);
}

int merge_groups_write(struct merge *m, struct err *err)
{
	for (size_t i = 0; i < m->groups->n; i++) {
		const struct group_sum *s = &m->groups->sum[i];

		if (s->n &&
		    PUT_ROW(m->out, T_GROUP, err, VALUE_OF(s->key.type),
			    VALUE_ID(s->key.comm), VALUE_ID(s->key.kernel),
			    VALUE_ID(s->key.user), VALUE_ID(s->key.mark),
			    value_known(s->key.weighs, s->weight),
			    VALUE_OF(s->n), VALUE_ID(s->key.kernel_mark)))
			return -1;
	}
	return 0;
}
