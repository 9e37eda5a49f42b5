/* symbolizer_cache.c - keeps objects of symbolizers for later ones of the same
 * run. */
#include "symbolize/symbolizer_cache.h"

#include <inttypes.h>
#include <pthread.h>

#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolizer.h"

struct symbolizer_cache_object {
	char *name;
	void *object;
	symbolizer_cache_free_fn *free;
};

struct symbolizer_cache {
	pthread_mutex_t lock;
	struct symbolizer_cache_object
		*o; /* in the order of symbolizer_cache_give() */
	size_t n, max;
};

struct symbolizer_cache *symbolizer_cache_new(size_t max)
{
	struct symbolizer_cache *k = mem_new(1, sizeof(*k));

	pthread_mutex_init(&k->lock, NULL);
	k->max = max;
	k->o = mem_new(max + 1, sizeof(*k->o));
	return k;
}

/* Removes object i from the list and returns it. */
static struct symbolizer_cache_object
symbolizer_cache_take_at(struct symbolizer_cache *k, size_t i)
{
	struct symbolizer_cache_object o = k->o[i];

	memmove(k->o + i, k->o + i + 1, (--k->n - i) * sizeof(*k->o));
	return o;
}

void *symbolizer_cache_take(struct symbolizer_cache *k, const char *name)
{
	struct symbolizer_cache_object o = { .object = NULL };

	pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->o[i].name, name)) {
			o = symbolizer_cache_take_at(k, i);
			break;
		}
	pthread_mutex_unlock(&k->lock);
	free(o.name);
	return o.object;
}

void symbolizer_cache_give(struct symbolizer_cache *k, const char *name,
			   void *object, symbolizer_cache_free_fn *fn)
{
	struct symbolizer_cache_object old = { .object = NULL };

	pthread_mutex_lock(&k->lock);
	k->o[k->n++] = (struct symbolizer_cache_object){ mem_strdup(name),
							 object, fn };
	if (k->n > k->max)
		old = symbolizer_cache_take_at(k, 0);
	pthread_mutex_unlock(&k->lock);
	if (old.object)
		old.free(old.object);
	free(old.name);
}

char *symbolizer_cache_name(const struct symbolizer *sy, const char *what,
			    const struct image *img)
{
	char id[2 * sizeof(img->id) + 1] = "";

	for (size_t i = 0; i < img->id_len && i < sizeof(img->id); i++)
		snprintf(id + 2 * i, 3, "%02x", img->id[i]);
	return mem_printf("%s %d %d %" PRIx32 ":%" PRIx32 ":%" PRIx64
			  ":%" PRIx64 " %" PRIx64 "+%" PRIx64 " %s %s %s",
			  what, img->kind, sy->opts.same_machine, img->maj,
			  img->min, img->ino, img->ino_gen, img->start,
			  img->len, id,
			  sy->opts.release ? sy->opts.release : "",
			  img->path ? img->path : "");
}
