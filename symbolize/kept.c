/* kept.c - what symbolizers leave to later ones of the same run. */
#include "symbolize/kept.h"

#include <inttypes.h>
#include <pthread.h>

#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolizer.h"

struct kept_object {
	char *name;
	void *object;
	kept_free_fn *free;
};

struct kept {
	pthread_mutex_t lock;
	struct kept_object *o; /* in the order in which they were given */
	size_t n, max;
};

struct kept *kept_new(size_t max)
{
	struct kept *k = mem_new(1, sizeof(*k));

	pthread_mutex_init(&k->lock, NULL);
	k->max = max;
	k->o = mem_new(max + 1, sizeof(*k->o));
	return k;
}

/* Takes object i out of the list. */
static struct kept_object kept_take_at(struct kept *k, size_t i)
{
	struct kept_object o = k->o[i];

	memmove(k->o + i, k->o + i + 1, (--k->n - i) * sizeof(*k->o));
	return o;
}

void *kept_take(struct kept *k, const char *name)
{
	struct kept_object o = { .object = NULL };

	pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->o[i].name, name)) {
			o = kept_take_at(k, i);
			break;
		}
	pthread_mutex_unlock(&k->lock);
	free(o.name);
	return o.object;
}

void kept_give(struct kept *k, const char *name, void *object, kept_free_fn *fn)
{
	struct kept_object old = { .object = NULL };

	pthread_mutex_lock(&k->lock);
	k->o[k->n++] = (struct kept_object){ mem_strdup(name), object, fn };
	if (k->n > k->max)
		old = kept_take_at(k, 0);
	pthread_mutex_unlock(&k->lock);
	if (old.object)
		old.free(old.object);
	free(old.name);
}

char *kept_name(const struct symbolizer *sy, const char *what,
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
