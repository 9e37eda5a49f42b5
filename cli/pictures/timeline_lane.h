/* timeline_lane.h - one lane of a timeline picture. */
#ifndef CLI_PICTURES_TIMELINE_LANE_H
#define CLI_PICTURES_TIMELINE_LANE_H
#include <stddef.h>
#include <stdint.h>

struct page;

/* Draws the background of a lane with a tooltip of all its numbers, and the
 * most important numbers beside it. */
void lane_ground(const struct page *p, uint32_t lane, unsigned int y);
/* Draws bands, events and marks of a lane. *band and *mark are the indices of
 * the lane's first ones and are moved to those of the next lane, so lanes must
 * be drawn in order. */
void lane_content(const struct page *p, uint32_t lane, unsigned int y,
		  size_t *band, size_t *mark);
#endif
