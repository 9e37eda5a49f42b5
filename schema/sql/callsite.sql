-- callsite.sql - deletes what is small of the results of an earlier call-site
-- check. The other tables are compared with the new results first.
DELETE FROM internal_other_file;
DELETE FROM internal_user_trust;
DELETE FROM internal_end;
DELETE FROM internal_frame_share;
