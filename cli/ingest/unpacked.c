/* unpacked.c - captures in archives, unpacked while they are read. */
#include "cli/ingest/unpacked.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output/folder.h"
#include "formats/archive.h"
#include "formats/formats.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/owned.h"
#include "stitch/base/search.h"
#include "stitch/files/path.h"
#include "stitch/text/safe_text.h"
#include "stitch/source.h"

/* Appends a path to a list that ends with NULL. */
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

/* How much older than its capture a file next to it may be: rings and readings
 * of cgroups are closed after perf has ended. */
#define BESIDE_BEFORE 10 /* seconds */

/* Adds what 'record --waits' wrote next to a file, if it is of that recording:
 * one without --waits leaves the older files there. */
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
		size_t i = session ? 0 : c->n;

		while (i < c->n &&
		       !(c->session[i] && !strcmp(c->session[i], session)))
			i++;
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

#define UNPACKED_SHOWN 5 /* captures of an archive that a message names */

/* An archive that is given; it is unpacked to FOLDER/INDEX. */
struct unpacked_archive {
	const char *name, *member; /* member: a file in it, or NULL */
	struct archive_found found;
	const char *file; /* the first file in it, for messages; or NULL */
	const char *text; /* the first text that was left out, or NULL */
	bool noted;
};

/* The captures and texts that are found below a folder. */
struct unpacked_look {
	struct unpacked *u;
	struct unpacked_archive *at;
	char **capture, **text;
	size_t n, cap, n_text, cap_text;
};

/* Lists a folder in the order of names, as that of the disk is arbitrary.
 * Returns how many; the caller frees *out. */
static size_t unpacked_list(struct unpacked *u, const char *folder, char ***out)
{
	DIR *d OWNED_DIR = opendir(folder);
	const struct dirent *e;
	char **list = NULL;
	size_t n = 0;
	size_t cap = 0;

	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		char *path OWNED = mem_printf("%s/%s", folder, e->d_name);

		*mem_add(list, n, cap) = arena_strdup(&u->own, path);
	}
	sort_items(list, n, compare_texts);
	*out = list;
	return n;
}

/* Finds captures. A folder of LTTng's traces is one capture, unless it only
 * holds the folder that is one, or captures of other recorders. */
static void unpacked_look_at(struct unpacked_look *lk, char *path)
{
	const enum formats_kind is = formats_kind(path);
	char **list OWNED = NULL;
	size_t sessions = 0;
	bool others = false;

	if (!path_is_folder(path)) {
		if (is == LOOK_CAPTURE)
			*mem_add(lk->capture, lk->n, lk->cap) = path;
		else if (is == LOOK_TEXT)
			*mem_add(lk->text, lk->n_text, lk->cap_text) = path;
		if (!lk->at->file)
			lk->at->file = path;
		return;
	}
	const size_t n =
		is == LOOK_CAPTURE ? 0 : unpacked_list(lk->u, path, &list);

	for (size_t i = 0; is == LOOK_SESSION && i < n; i++) {
		const enum formats_kind in = formats_kind(list[i]);

		sessions += in == LOOK_SESSION;
		others |= in == LOOK_CAPTURE;
	}
	if (is == LOOK_CAPTURE ||
	    (is == LOOK_SESSION && sessions != 1 && !others))
		*mem_add(lk->capture, lk->n, lk->cap) = path;
	else
		for (size_t i = 0; i < n; i++)
			unpacked_look_at(lk, list[i]);
}

/* Returns the member in a path below the folder. */
static const char *unpacked_member(const struct unpacked *u, const char *path)
{
	const char *s = path + strlen(u->folder) + 1;

	s += strcspn(s, "/");
	return *s ? s + 1 : s;
}

const char *unpacked_show(void *unpacked, const char *text)
{
	struct unpacked *u = unpacked;
	const size_t len = u->folder ? strlen(u->folder) : 0;
	const char *at = len ? strstr(text, u->folder) : NULL;
	const char *from = text;
	char *shown OWNED = NULL;
	size_t n = 0;
	size_t cap = 0;

	if (!at)
		return text;
	for (; at; at = strstr(from, u->folder)) {
		char *end;
		const unsigned long i =
			at[len] == '/' ? strtoul(at + len + 1, &end, 10)
				       : u->n_archive;
		const char *name =
			i < u->n_archive ? u->archive[i].name : u->folder;

		mem_append(shown, n, cap, from, (size_t)(at - from));
		mem_append(shown, n, cap, name, strlen(name));
		from = i < u->n_archive ? end : at + len;
	}
	mem_append(shown, n, cap, from, strlen(from) + 1);
	arena_release(&u->shown);
	return arena_strdup(&u->shown, shown);
}

/* Sets *err to why no capture of an archive is read, and returns -1. */
static int unpacked_nothing(struct unpacked *u,
			    const struct unpacked_archive *at, struct err *err)
{
	const char *name = at->file ? unpacked_member(u, at->file) : "";
	const char *end = strrchr(name, '.');

	if (at->found.cut)
		return err_set(err, ERR_FORMAT, "%s", at->found.why);
	if (!*name)
		return err_set(err, ERR_FORMAT,
			       "%s: no files are in this archive", at->name);
	if (end && !strcasecmp(end, ".etl"))
		return err_set(err, ERR_FORMAT,
			       "%s: '%s' in it is a recording of Windows; "
			       "record on Linux with perf, trace-cmd or LTTng",
			       at->name, name);
	if (strstr(name, ".build-id/"))
		return err_set(err, ERR_FORMAT,
			       "%s: has files for symbols, as 'perf archive' "
			       "packs them: 'tar -xf %s -C ~/.debug'",
			       at->name, at->name);
	if (archive_is(at->file))
		return err_set(err, ERR_FORMAT,
			       "%s: '%s' in it is an archive again; unpack "
			       "that (tar -xf)",
			       at->name, name);
	if (at->found.files > 1)
		return err_set(err, ERR_FORMAT,
			       "%s: no capture is in this archive, and no "
			       "database, but '%s' and %zu more",
			       at->name, name, at->found.files - 1);
	struct source *src = formats_open(at->file, NULL, NULL, err);

	source_close(src);
	return src ? err_set(err, ERR_FORMAT, "%s: '%s' is no capture",
			     at->name, name)
		   : -1;
}

/* Adds a list of captures to the message in *err. */
static void unpacked_tell(const struct unpacked *u, char *const *list, size_t n,
			  struct err *err)
{
	const enum err_code code = err->code;
	char text[sizeof(err->msg)];
	size_t len = (size_t)snprintf(text, sizeof(text), "%.400s", err->msg);

	for (size_t i = 0; i < n && len < sizeof(text); i++)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len,
			i < UNPACKED_SHOWN ? "%s '%.40s'" : "%s", i ? "," : "",
			i < UNPACKED_SHOWN ? unpacked_member(u, list[i])
					   : "...");
	err_set(err, code, "%s", text);
}

/* Adds the captures of an unpacked archive. Returns 0, or -1 and *err. */
static int unpacked_take(struct unpacked *u, struct unpacked_archive *at,
			 char *root, struct err *err)
{
	struct unpacked_look lk = { .u = u, .at = at };
	struct stat st;
	int rc = 0;

	if (at->member) {
		char *path = mem_printf("%s/%s", root, at->member);
		char *named = arena_strdup(&u->own, path);

		free(path);
		unpacked_look_at(&lk, stat(named, &st) ? root : named);
		if (stat(named, &st)) {
			err_set(err, ERR_USAGE,
				"%s: no '%s' is in this archive; captures in "
				"it:",
				at->name, at->member);
			unpacked_tell(u, lk.n ? lk.capture : lk.text,
				      lk.n ? lk.n : lk.n_text, err);
			rc = -1;
		} else if (!lk.n && !lk.n_text) {
			*mem_add(lk.capture, lk.n, lk.cap) = named;
		}
	} else {
		unpacked_look_at(&lk, root);
	}
	for (size_t i = 0; !rc && i < lk.n; i++)
		*mem_add(u->path, u->n, u->cap) = lk.capture[i];
	for (size_t i = 0; !rc && !lk.n && i < lk.n_text; i++)
		*mem_add(u->path, u->n, u->cap) = lk.text[i];
	if (lk.n && lk.n_text)
		at->text = lk.text[0];
	if (!rc && !lk.n && !lk.n_text)
		rc = unpacked_nothing(u, at, err);
	free_all(lk.capture, lk.text);
	return rc;
}

static int unpacked_refuse(const char *name, struct err *err)
{
	char *word OWNED = safe_text_word(name);

	return err_set(err, ERR_BUNDLE,
		       "%s: this is a bundle; look into it with 'backstitch "
		       "info %s'",
		       name, word);
}

/* Unpacks the archive whose name is the first `len` bytes of path, into a new
 * folder in u->folder, which `fd` has open. The rest of path, after a '/', is a
 * file in the archive. Returns 0, or -1 and *err. */
static int unpacked_open(struct unpacked *u, int fd, char *path, size_t len,
			 struct err *err)
{
	struct unpacked_archive *at = &u->archive[u->n_archive++];
	char *root OWNED = mem_printf("%s/%zu", u->folder, u->n_archive - 1);
	char *kept = arena_strdup(&u->own, root);
	char *name = arena_strdup(&u->own, path);
	int rc = -1;

	name[len] = '\0';
	at->name = name;
	at->member = path[len] && path[len + 1] ? path + len + 1 : NULL;
	const int dir = mkdirat(fd, path_base(kept), 0700)
				? -1
				: openat(fd, path_base(kept),
					 O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		err_set(err, ERR_IO, "%s: %m", u->folder);
	else if (!archive_unpack(name, dir, at->member, &at->found, err))
		rc = at->found.database ? unpacked_refuse(name, err)
					: unpacked_take(u, at, kept, err);
	if (dir >= 0)
		close(dir);
	return rc;
}

int unpacked_find(struct unpacked *u, char *const *paths, size_t n,
		  struct err *err)
{
	int fd OWNED_FD = -1;
	int rc = 0;

	*u = (struct unpacked){ .archive = mem_new(n, sizeof(*u->archive)) };
	for (size_t i = 0; !rc && i < n; i++) {
		const size_t len = archive_in_path(paths[i]);
		char *base OWNED = mem_dup(paths[i], strlen(paths[i]) + 1);

		base[len] = '\0';
		if (!archive_is(base)) {
			*mem_add(u->path, u->n, u->cap) = paths[i];
		} else {
			if (!u->folder)
				u->folder = folder_to_read(&fd, err);
			rc = u->folder
				     ? unpacked_open(u, fd, paths[i], len, err)
				     : -1;
		}
	}
	if (rc)
		unpacked_say(u, err);
	return rc;
}

void unpacked_say(struct unpacked *u, struct err *err)
{
	const enum err_code code = err->code;
	const char *text = unpacked_show(u, err->msg);

	if (text != err->msg)
		err_set(err, code, "%s", text);
}

void unpacked_release(struct unpacked *u)
{
	if (u->folder)
		folder_was_read();
	free_all(u->path, u->archive);
	arena_release(&u->own);
	arena_release(&u->shown);
	*u = (struct unpacked){ .n = 0 };
}

void unpacked_name(struct unpacked *u, struct source *src)
{
	char text[400];
	struct err why;

	if (!u->folder || strncmp(src->path, u->folder, strlen(u->folder)) != 0)
		return;
	src->shown = arena_strdup(&u->own, unpacked_show(u, src->path));
	struct unpacked_archive *at = &u->archive[strtoul(
		src->path + strlen(u->folder) + 1, NULL, 10)];

	if (at->noted || !src->ledger)
		return;
	at->noted = true;
	if (at->found.cut) {
		src->info.truncated = true;
		err_set(&why, ERR_FORMAT, "%s", at->found.why);
		ledger_damage(src->ledger, src->index, "packed", 0, 0, &why);
	}
	if (at->found.left_out) {
		snprintf(
			text, sizeof(text),
			"%zu entries of the archive are no files of it (links, "
			"or names that lead out of it): '%s'%s",
			at->found.left_out, at->found.left,
			at->found.left_out > 1 ? ", ..." : "");
		ledger_note(src->ledger, src->index, "archive", text);
	}
	if (at->text) {
		snprintf(text, sizeof(text),
			 "texts are left out, as captures are next to them: "
			 "'%.250s'",
			 unpacked_member(u, at->text));
		ledger_note(src->ledger, src->index, "archive", text);
	}
}

void unpacked_advise(struct unpacked *u, struct err *err)
{
	if (u->n < 2 || u->n_archive != 1 ||
	    any_where(u->n, i,
		      strncmp(u->path[i], u->folder, strlen(u->folder)) != 0))
		return;
	unpacked_say(u, err);
	char why[sizeof(err->msg)];

	memcpy(why, err->msg, sizeof(why));
	err_set(err, err->code,
		"%.330s; in it, each to be given as %.60s/NAME:", why,
		u->archive[0].name);
	unpacked_tell(u, u->path, u->n, err);
}

int unpacked_which(const struct unpacked *u, struct err *err)
{
	err_set(err, ERR_USAGE,
		"%s: has %zu captures; give one of them, as %.60s/NAME:",
		u->archive[0].name, u->n, u->archive[0].name);
	unpacked_tell(u, u->path, u->n, err);
	return -1;
}
