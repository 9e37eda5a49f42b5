/* fetch.c - downloads files by build-id, with libdebuginfod.
 *
 * The library is loaded at the first download: it brings in some thirty other
 * libraries (curl, TLS, Kerberos), which would slow down every start. */
#include "symbolize/files/fetch.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <unistd.h>

#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "symbolize/elf/elf.h"
#include "symbolize/report.h"
#include "symbolize/symbolizer.h"

struct fetch {
	void *lib;
	debuginfod_client *client;
	__typeof__(debuginfod_find_debuginfo) *find_debug, *find_code;
	__typeof__(debuginfod_end) *end;
	bool (*stop)(void);
	double left, began; /* seconds */
	long most;	    /* limit for one file, set by the user; 0: none */
	bool over;	    /* the time limit has passed */
	/* Failed requests, none of which is repeated: naming requests a file
	 * twice, and several images may have one build-id. */
	struct miss *miss;
	size_t n_miss, cap_miss;
};

struct miss {
	uint8_t id[20];
	size_t id_len;
	enum fetch_what what;
	int rc; /* error of the library */
};

/* Called while a download runs; a result other than 0 cancels it. */
static int fetch_progress(debuginfod_client *c, long a UNUSED, long b UNUSED)
{
	__typeof__(debuginfod_get_user_data) *user_data =
		(__typeof__(user_data))dlsym(RTLD_DEFAULT,
					     "debuginfod_get_user_data");
	struct fetch *f = user_data ? user_data(c) : NULL;

	if (!f)
		return 1;
	f->over |= (double)now_ns() / 1e9 - f->began > f->left;
	return f->over || (f->stop && f->stop());
}

bool fetch_available(void)
{
	void *lib = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY);

	if (lib)
		dlclose(lib);
	return lib != NULL;
}

/* Sets a pointer to a function of the library. */
#define FETCH_FUNCTION(to, name)                                               \
	((to) = (__typeof__(to))dlsym(f->lib, "debuginfod_" name))

static bool fetch_load_library(struct fetch *f)
{
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_set_progressfn) *set_progress;
	__typeof__(debuginfod_set_user_data) *set_data;

	/* Global, so that fetch_progress() can look up symbols. */
	f->lib = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY | RTLD_GLOBAL);
	if (!f->lib || !FETCH_FUNCTION(begin, "begin") ||
	    !FETCH_FUNCTION(set_progress, "set_progressfn") ||
	    !FETCH_FUNCTION(set_data, "set_user_data") ||
	    !FETCH_FUNCTION(f->find_debug, "find_debuginfo") ||
	    !FETCH_FUNCTION(f->find_code, "find_executable") ||
	    !FETCH_FUNCTION(f->end, "end"))
		return false;
	const char *most = getenv(DEBUGINFOD_MAXTIME_ENV_VAR);

	f->most = most ? strtol(most, NULL, 10) : 0;
	f->client = begin();
	if (!f->client)
		return false;
	set_data(f->client, f);
	set_progress(f->client, fetch_progress);
	return true;
}

bool fetch_file(struct symbolizer *sy, enum fetch_what what, const uint8_t *id,
		size_t id_len)
{
	if (sy->opts.fetch_seconds <= 0 || !sy->rep || !id_len || id_len > 20)
		return false;
	if (!sy->fetch) {
		sy->fetch = mem_new(1, sizeof(*sy->fetch));
		sy->fetch->left = sy->opts.fetch_seconds;
		sy->fetch->stop = sy->opts.stop;
		fetch_load_library(sy->fetch);
	}
	struct fetch *f = sy->fetch;
	struct miss m = { .id_len = id_len, .what = what, .rc = -1 };
	bool asks = f->client && !f->over;
	size_t i = 0;

	memcpy(m.id, id, id_len);
	while (asks && i < f->n_miss &&
	       (f->miss[i].what != what || f->miss[i].id_len != id_len ||
		memcmp(f->miss[i].id, id, id_len) != 0))
		i++;
	if (asks && i < f->n_miss) {
		m.rc = f->miss[i].rc;
	} else if (asks) {
		long most = f->left > 1 ? (long)f->left : 1;
		char text[24];

		if (f->most > 0 && f->most < most)
			most = f->most;
		/* Before a server answers, libdebuginfod 0.192 does not call
		 * fetch_progress(), and each of its attempts may take as long.
		 * While files are fetched, no other thread reads variables. */
		snprintf(text, sizeof(text), "%ld", most);
		setenv(DEBUGINFOD_MAXTIME_ENV_VAR, text, 1);
		setenv(DEBUGINFOD_RETRY_LIMIT_ENV_VAR, "0", 0);
		f->began = (double)now_ns() / 1e9;
		m.rc = (what == FETCH_DEBUG ? f->find_debug : f->find_code)(
			f->client, id, (int)id_len, NULL);
		f->left -= (double)now_ns() / 1e9 - f->began;
		f->over |= f->left <= 0 && m.rc < 0;
		if (m.rc >= 0) {
			close(m.rc);
			sy->rep->fetched++;
			return true;
		}
		*mem_add(f->miss, f->n_miss, f->cap_miss) = m;
	}

	char hex[48];

	elf_id_hex(id, id_len, hex);
	snprintf(sy->rep->missing, sizeof(sy->rep->missing), "%s of %s: %s",
		 what == FETCH_DEBUG ? "debug information" : "program", hex,
		 f->over      ? "the time for fetching is over"
		 : !f->client ? "libdebuginfod cannot be loaded"
			      : strerror(-m.rc));
	return false;
}

void fetch_free(struct symbolizer *sy)
{
	if (!sy->fetch)
		return;
	if (sy->fetch->client)
		sy->fetch->end(sy->fetch->client);
	free(sy->fetch->miss);
	/* not unloaded: curl and its libraries do not support that */
	free(sy->fetch);
	sy->fetch = NULL;
}
