/* names.c - names and processes of threads, from saved_cmdlines and
 * saved_tgids. */
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "stitch/base/search.h"

COMPARE_BY(ft_names_compare, struct ft_cmd, tid);

/* Takes lines "PID NAME". */
void ft_names_read(struct ft *ft, const struct bytes *text)
{
	struct scan s = scan_of(text->pos, bytes_left(text));

	while (s.n) {
		struct scan line = scan_line(&s);
		int32_t tid;

		/* <...> means that the kernel did not know the name either. */
		if (!scan_i32(&line, &tid) || !scan_take(&line, " ") ||
		    scan_is(line, "<...>"))
			continue;
		*mem_add(ft->cmd, ft->n_cmd, ft->cap_cmd) = (struct ft_cmd){
			.tid = tid,
			.name = arena_strndup(&ft->arena, line.p, line.n),
		};
	}
	sort_items(ft->cmd, ft->n_cmd, ft_names_compare);
}

/* The kernel lists threads in the order of their ids. */
void ft_tgid_add(struct ft *ft, int32_t tid, int32_t tgid)
{
	if (tgid <= 0 || (ft->n_tgid && ft->tgid[ft->n_tgid - 1].tid >= tid))
		return;
	*mem_add(ft->tgid, ft->n_tgid, ft->cap_tgid) =
		(struct ft_tgid){ tid, tgid };
}

int32_t ft_tgid_of(const struct ft *ft, int32_t tid)
{
	const size_t n = search_where(ft->n_tgid, i, ft->tgid[i].tid >= tid);

	return n < ft->n_tgid && ft->tgid[n].tid == tid ? ft->tgid[n].tgid : -1;
}

const char *ft_name_of(const struct ft *ft, int32_t tid)
{
	const size_t n = search_where(ft->n_cmd, i, ft->cmd[i].tid >= tid);

	return n < ft->n_cmd && ft->cmd[n].tid == tid ? ft->cmd[n].name : NULL;
}
