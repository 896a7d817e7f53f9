// A program repeats launches to measure them, or begins with large ones, and a person waits. On the
// CPU the launches in front of the recorded one, that one, and those behind it have --seconds each.
// Later launches are left out, and that is said once.
#include "base/clock.h"
#include "driver/driver_launch.h"

typedef enum Part { BEFORE, RECORDED, AFTER, PARTS } Part;
static double used[PARTS], started;
static Part part;

static void say_left_out(long long seconds) {
  static const char *const sentence[PARTS] = {
      [BEFORE] =
          "%lld s of launches before the recorded one have run; the others are left out, so "
          "the memory that it finds is not complete (--seconds)",
      [AFTER] =
          "%lld s of launches after the recorded one have run; the others are left out, so "
          "the results that the program prints are not valid (--seconds)"};
  static bool said[PARTS];
  if (said[part]) return;
  said[part] = true;
  driver_say(sentence[part], seconds);
}

bool patience_begin(DriverRun *run, bool wanted) {
  const long long seconds = driver_settings()->seconds;
  const SeenTable *seen = driver_seen();
  run->until = 0;
  if (seconds <= 0 || !seen || !driver_settings()->capsule) return true;
  part = wanted ? RECORDED : seen->written ? AFTER : BEFORE;
  const double left = (double)seconds - used[part];
  if (left <= 0 && !wanted) {
    say_left_out(seconds);
    return false;
  }
  started = clock_seconds();
  run->until = started + (wanted ? (double)seconds : left);
  return true;
}

void patience_end(const DriverRun *run) {
  if (run->until > 0) used[part] += clock_seconds() - started;
}

static bool is_after(void) {
  const SeenTable *seen = driver_seen();
  return driver_settings()->seconds > 0 && driver_settings()->capsule && seen && seen->written;
}

bool patience_is_over(void) {
  return is_after() && used[AFTER] >= (double)driver_settings()->seconds;
}

void patience_spend(double seconds) {
  if (is_after()) used[AFTER] += seconds;
}
