/* session_folders.c - folders of one LTTng session that are given together. */
#include "cli/ingest/session_folders.h"

#include "formats/formats.h"
#include "stitch/base/mem.h"

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

void session_folders_join(struct session_folders *c, char *const *paths,
			  size_t n, bool apart)
{
	*c = (struct session_folders){
		.path = mem_new(n + 1, sizeof(*c->path)),
		.session = mem_new(n + 1, sizeof(*c->session)),
		.more = mem_new(n + 1, sizeof(*c->more)),
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
}

void session_folders_release(struct session_folders *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free_all(c->session[i], c->more[i]);
	}
	free_all(c->path, c->session, c->more);
}
