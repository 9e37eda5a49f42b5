/* timeline_lane.h - one lane of a timeline picture. */
#ifndef CLI_PICTURES_TIMELINE_LANE_H
#define CLI_PICTURES_TIMELINE_LANE_H
#include <stddef.h>
#include <stdint.h>

struct page;

/* Its ground, to which the tooltip with all its numbers belongs, and the
 * worst of them beside it. */
void lane_ground(const struct page *p, uint32_t lane, unsigned int y);
/* What happened in it. *band, *mark: the first that may be of this lane, then
 * the first that is not; lanes are drawn in order. */
void lane_content(const struct page *p, uint32_t lane, unsigned int y,
		  size_t *band, size_t *mark);
#endif
