/* names.c - names and processes of threads, from saved_cmdlines and
 * saved_tgids. */
#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "stitch/base/search.h"

/* Takes "PID NAME". */
static void ft_names_take_cmdline(struct ft *ft, const char *s, size_t len)
{
	uint32_t tid = 0;
	size_t i = 0;

	for (; i < len && s[i] >= '0' && s[i] <= '9' && tid < 100000000; i++)
		tid = tid * 10 + (uint32_t)(s[i] - '0');
	if (!i || i >= len || s[i] != ' ' || tid > INT32_MAX)
		return;
	/* <...> means that the kernel did not know the name either. */
	if (len - i < 2 || !memcmp(s + i + 1, "<", 1))
		return;
	char *name = mem_dup(s + i + 1, len - i - 1);

	ft->cmd = mem_grow(ft->cmd, &ft->cap_cmd, ft->n_cmd + 1,
			   sizeof(*ft->cmd));
	ft->cmd[ft->n_cmd++] = (struct ft_cmd){
		.tid = (int32_t)tid,
		.name = arena_strdup(&ft->arena, name),
	};
	free(name);
}

static int ft_names_compare(const void *a, const void *b)
{
	const struct ft_cmd *x = a;
	const struct ft_cmd *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

void ft_names_read(struct ft *ft, const struct bytes *text)
{
	const char *s = (const char *)text->pos;
	const char *end = (const char *)text->end;

	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const char *stop = nl ? nl : end;

		ft_names_take_cmdline(ft, s, (size_t)(stop - s));
		s = stop + 1;
	}
	if (ft->n_cmd)
		qsort(ft->cmd, ft->n_cmd, sizeof(*ft->cmd), ft_names_compare);
}

/* The kernel lists threads in the order of their ids. */
void ft_tgid_add(struct ft *ft, int32_t tid, int32_t tgid)
{
	if (tgid <= 0 || (ft->n_tgid && ft->tgid[ft->n_tgid - 1].tid >= tid))
		return;
	ft->tgid = mem_grow(ft->tgid, &ft->cap_tgid, ft->n_tgid + 1,
			    sizeof(*ft->tgid));
	ft->tgid[ft->n_tgid++] = (struct ft_tgid){ tid, tgid };
}

int32_t ft_tgid_of(const struct ft *ft, int32_t tid)
{
	size_t lo = 0;
	size_t hi = ft->n_tgid;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ft->tgid[mid].tid == tid)
			return ft->tgid[mid].tgid;
		if (ft->tgid[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}

const char *ft_name_of(const struct ft *ft, int32_t tid)
{
	const struct ft_cmd key = { .tid = tid };
	const struct ft_cmd *c = NULL;

	if (ft->n_cmd)
		c = bsearch(&key, ft->cmd, ft->n_cmd, sizeof(key),
			    ft_names_compare);
	return c ? c->name : NULL;
}
