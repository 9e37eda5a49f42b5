/* session_folders.c - folders of one LTTng session that are given together. */
#include "cli/ingest/session_folders.h"

#include <limits.h>
#include <sys/stat.h>

#include "formats/formats.h"

static size_t session_folders_find(const struct session_folders *c,
				   const char *session)
{
	size_t i = 0;

	while (i < c->n && !(c->session[i] && !strcmp(c->session[i], session)))
		i++;
	return i;
}

static void session_folders_add_more(char ***list, char *path)
{
	size_t n = 0;

	while (*list && (*list)[n])
		n++;
	size_t cap = *list ? n + 1 : 0;

	mem_grow(*list, cap, n + 2);
	(*list)[n] = path;
	(*list)[n + 1] = NULL;
}

/* The rings and the readings of cgroups are closed when perf has ended. */
#define BESIDE_BEFORE 10 /* seconds */

/* Adds what 'record --waits' wrote next to a file, if it is of that recording:
 * the next one without it leaves what was there. */
static void session_folders_add_adjacent(struct session_folders *c,
					 char *const *paths, size_t n,
					 const char *file)
{
	static const struct {
		const char *ending;
		mode_t type;
	} beside[] = { { BESIDE_CGROUPS, S_IFREG },
		       { BESIDE_FTRACE, S_IFDIR } };
	char path[PATH_MAX];
	struct stat st, of;

	if (stat(file, &st) || !S_ISREG(st.st_mode))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		int len = snprintf(path, sizeof(path), "%s%s", file,
				   beside[i].ending);

		if (len >= (int)sizeof(path) || lstat(path, &of) ||
		    (of.st_mode & S_IFMT) != beside[i].type ||
		    of.st_mtime + BESIDE_BEFORE < st.st_mtime ||
		    any_where(n, k, !strcmp(paths[k], path)))
			continue;
		c->path[c->n++] = arena_strdup(&c->own, path);
	}
}

void session_folders_join(struct session_folders *c, char *const *paths,
			  size_t n, bool apart)
{
	*c = (struct session_folders){
		.path = mem_new(n * 3 + 1, sizeof(*c->path)),
		.session = mem_new(n * 3 + 1, sizeof(*c->session)),
		.more = mem_new(n * 3 + 1, sizeof(*c->more)),
	};
	for (size_t k = 0; k < n; k++) {
		char *session =
			apart || n == 1 ? NULL : formats_session(paths[k]);
		const size_t i =
			session ? session_folders_find(c, session) : c->n;

		if (i < c->n) {
			session_folders_add_more(&c->more[i], paths[k]);
			free(session);
			continue;
		}
		c->path[c->n] = paths[k];
		c->session[c->n++] = session;
	}
	c->given = c->n;
	for (size_t k = 0; k < n && !apart; k++)
		session_folders_add_adjacent(c, paths, n, paths[k]);
}

void session_folders_release(struct session_folders *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free_all(c->session[i], c->more[i]);
	}
	free_all(c->path, c->session, c->more);
	arena_release(&c->own);
}
