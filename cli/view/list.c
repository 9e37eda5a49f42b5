/* list.c - the cursor in a list of lines, and sentences of replies. */
#include "cli/view/screen.h"

#include <stdio.h>

#include "cli/view/cells.h"

bool list_key(struct list *l, int key, int rows)
{
	size_t page = rows > 1 ? (size_t)rows - 1 : 1;
	size_t last = l->n ? l->n - 1 : 0;

	switch (key) {
	case CELLS_UP:
	case 'k':
		l->at -= l->at > 0;
		return true;
	case CELLS_DOWN:
	case 'j':
		l->at += l->at < last;
		return true;
	case CELLS_PAGE_UP:
		l->at -= l->at < page ? l->at : page;
		return true;
	case CELLS_PAGE_DOWN:
	case ' ':
		l->at = last - l->at < page ? last : l->at + page;
		return true;
	case CELLS_FIRST:
	case '<':
		l->at = 0;
		return true;
	case CELLS_LAST:
	case '>':
		l->at = last;
		return true;
	default:
		return false;
	}
}

void list_go(struct list *l, size_t at)
{
	l->at = at;
	l->jumped = true;
}

void list_fit(struct list *l, int rows)
{
	size_t room = rows > 0 ? (size_t)rows : 1;

	if (l->n && l->at >= l->n)
		l->at = l->n - 1;
	if (l->jumped && (l->top > l->at || l->at - l->top >= room))
		l->top = l->at > room / 2 ? l->at - room / 2 : 0;
	l->jumped = false;
	if (l->top > l->at)
		l->top = l->at;
	if (l->at - l->top >= room)
		l->top = l->at - room + 1;
	/* no empty rows below while there are lines above */
	if (l->top && l->n - l->top < room)
		l->top = l->n > room ? l->n - room : 0;
}

void reply_say(struct reply *r, const char *text)
{
	snprintf(r->said, sizeof(r->said), "%s", text);
}
