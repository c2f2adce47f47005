#include "rml/text/jinja/strftime.h"

#include <chrono>
#include <cstdio>

namespace rml::text::jinja {
namespace {

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};

struct Calendar {
  int day_of_week;  // 0 is Sunday
  int day_of_year;  // 0 is January 1st
};

int DayOfWeek(int year, int month, int day) {
  const std::chrono::sys_days date = std::chrono::year(year) /
                                     std::chrono::month(static_cast<unsigned>(month)) /
                                     std::chrono::day(static_cast<unsigned>(day));
  return static_cast<int>(std::chrono::weekday(date).c_encoding());
}

Calendar CalendarOf(const CivilTime& time) {
  using std::chrono::day;
  using std::chrono::month;
  using std::chrono::sys_days;
  using std::chrono::year;
  const sys_days date = year(time.year) / month(static_cast<unsigned>(time.month)) /
                        day(static_cast<unsigned>(time.day));
  const sys_days first = year(time.year) / month(1) / day(1);
  return {DayOfWeek(time.year, time.month, time.day), static_cast<int>((date - first).count())};
}

// ISO 8601: weeks begin on Monday, and week 1 holds the year's first Thursday.
std::pair<int, int> IsoYearAndWeek(const CivilTime& time, const Calendar& calendar) {
  const int monday_based = (calendar.day_of_week + 6) % 7;
  const auto weeks_of = [](int y) {
    const bool leap = std::chrono::year(y).is_leap();
    const int january_first = DayOfWeek(y, 1, 1);
    return january_first == 4 || (january_first == 3 && leap) ? 53 : 52;
  };
  const int week = (calendar.day_of_year - monday_based + 10) / 7;
  if (week < 1) return {time.year - 1, weeks_of(time.year - 1)};
  if (week > weeks_of(time.year)) return {time.year + 1, 1};
  return {time.year, week};
}

class Formatter {
 public:
  explicit Formatter(const CivilTime& time) : time_(time), calendar_(CalendarOf(time)) {}

  std::string Run(std::string_view format) {
    for (size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%' || i + 1 == format.size()) {
        out_ += format[i];
        continue;
      }
      const size_t start = i++;
      flag_ = 0;
      if (i + 1 < format.size() &&
          std::string_view("-_0^#").find(format[i]) != std::string_view::npos) {
        flag_ = format[i++];
      }
      if (!Directive(format[i])) out_ += format.substr(start, i - start + 1);
    }
    return std::move(out_);
  }

 private:
  bool Directive(char directive) {
    const int hour12 = (time_.hour + 11) % 12 + 1;
    switch (directive) {
      case 'Y':
        return Number(time_.year, 1, '0');
      case 'C':
        return Number(time_.year / 100, 2, '0');
      case 'y':
        return Number(time_.year % 100, 2, '0');
      case 'm':
        return Number(time_.month, 2, '0');
      case 'd':
        return Number(time_.day, 2, '0');
      case 'e':
        return Number(time_.day, 2, ' ');
      case 'H':
        return Number(time_.hour, 2, '0');
      case 'k':
        return Number(time_.hour, 2, ' ');
      case 'I':
        return Number(hour12, 2, '0');
      case 'l':
        return Number(hour12, 2, ' ');
      case 'M':
        return Number(time_.minute, 2, '0');
      case 'S':
        return Number(time_.second, 2, '0');
      case 'f':
        return Number(0, 6, '0');
      case 'j':
        return Number(calendar_.day_of_year + 1, 3, '0');
      case 'U':
        return Number((calendar_.day_of_year + 7 - calendar_.day_of_week) / 7, 2, '0');
      case 'W':
        return Number((calendar_.day_of_year + 7 - (calendar_.day_of_week + 6) % 7) / 7, 2, '0');
      case 'V':
        return Number(IsoYearAndWeek(time_, calendar_).second, 2, '0');
      case 'G':
        return Number(IsoYearAndWeek(time_, calendar_).first, 1, '0');
      case 'g':
        return Number(IsoYearAndWeek(time_, calendar_).first % 100, 2, '0');
      case 'w':
        return Number(calendar_.day_of_week, 1, '0');
      case 'u':
        return Number((calendar_.day_of_week + 6) % 7 + 1, 1, '0');
      case 'B':
        return Text(kMonths[Month()]);
      case 'b':
      case 'h':
        return Text(kMonths[Month()].substr(0, 3));
      case 'A':
        return Text(kDays[calendar_.day_of_week]);
      case 'a':
        return Text(kDays[calendar_.day_of_week].substr(0, 3));
      case 'p':
        return Text(time_.hour < 12 ? "AM" : "PM");
      case 'P':
        return Text(time_.hour < 12 ? "am" : "pm");
      case 'n':
        return Text("\n");
      case 't':
        return Text("\t");
      case '%':
        return Text("%");
      case 'z':
      case 'Z':
        return true;
      case 'D':
      case 'x':
        return Nested("%m/%d/%y");
      case 'F':
        return Nested("%Y-%m-%d");
      case 'T':
      case 'X':
        return Nested("%H:%M:%S");
      case 'R':
        return Nested("%H:%M");
      case 'r':
        return Nested("%I:%M:%S %p");
      case 'c':
        return Nested("%a %b %e %H:%M:%S %Y");
      default:
        return false;
    }
  }

  size_t Month() const { return static_cast<size_t>(time_.month - 1) % 12; }

  bool Number(int number, int width, char fill) {
    char buffer[24];
    if (flag_ == '-') width = 1;
    if (flag_ == '_') fill = ' ';
    if (flag_ == '0') fill = '0';
    std::snprintf(buffer, sizeof(buffer), fill == '0' ? "%0*d" : "%*d", width, number);
    out_ += buffer;
    return true;
  }

  bool Text(std::string_view text) {
    for (const char c : text) {
      const bool lower = c >= 'a' && c <= 'z';
      out_ += flag_ == '^' && lower ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return true;
  }

  bool Nested(std::string_view format) {
    out_ += Formatter(time_).Run(format);
    return true;
  }

  const CivilTime& time_;
  const Calendar calendar_;
  std::string out_;
  char flag_ = 0;
};

}  // namespace

std::string FormatTime(std::string_view format, const CivilTime& time) {
  return Formatter(time).Run(format);
}

}  // namespace rml::text::jinja
