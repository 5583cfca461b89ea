// Accounts and their ledger.
#include <vector>
#include "ledger.hpp"

#define LIMIT 3

using namespace std;
using std::string;
namespace fs = std::filesystem;

namespace bank {

/// The most accounts a ledger holds.
constexpr int kMaxAccounts = 100;

using Id = unsigned long;
typedef std::vector<int> Numbers;

/// Direction of a booking.
enum class Direction : int { Debit, Credit = 2 };

class Store;

/**
 * One customer's account.
 */
template <typename T, int N = 3>
class Account final : public Base<T>, private detail::Node {
 public:
  Account() = default;
  explicit Account(std::string owner) : Base<T>(owner), owner_(std::move(owner)) {}
  virtual ~Account();

  // Adds an amount.
  virtual bool deposit(const Money& amount) const override = 0;
  T* find(int id) { return helper(id); }
  static int count();
  bool operator==(const Account& other) const { return owner_ == other.owner_; }

 private:
  std::string owner_;
  int a = 0;
  int c, *b;
  struct Inner { int x; };
};

struct Point { double x, y; };

union Value { int i; float f; };

template <typename T>
T max_of(T a, T b) { return a > b ? a : b; }

int Store::total(int n) const {
  auto f = [](int v) { return v; };
  auto p = std::make_unique<Account<int>>("x");
  p->deposit(Money{3});
  Point* q = new Point();
  return f(n) + max_of<int>(1, 2) + this->sum();
}

Store::~Store() { close(); }

Account<int>& make(Direction d) noexcept;

namespace detail::inner {
void hidden() {}
}

template <class T>
concept Hashable = requires(T a) { hash(a); };

}  // namespace bank

extern "C" {
int bank_open(const char* path);
}

int main() { return bank::make(bank::Direction::Debit).count(); }

struct Money {
  long cents = 0;
  Point* place = 0;
  operator long() const { return cents; }
  explicit operator bool() const;
  virtual Money* half() const = 0;
};

// Frees a node.
void bank::detail::inner::Node::unlink() { next_ = nullptr; }
Point* bank::Ledger::first() { return head(); }
const Money& bank::Ledger::sum() const { return sum_; }
Money::operator bool() const { return cents != 0; }
bank::Ledger::Ledger() = default;
Money& Money::operator=(const Money& other) = default;
template <typename T> void bank::Box<T>::put(T value) { hold(value); }
int bank::Ledger::opened = 0;
