// C++20 coroutines and the smallest scheduler that does the work: a vector of
// those who wait for the next frame, a priority queue of those who sleep, and
// joins by symmetric transfer. No cancelling, no handles that outlive what
// they stand for, no order among equal deadlines.
//
// The actor is that of actor.rs, number for number.

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <queue>
#include <utility>
#include <vector>

namespace {

using Handle = std::coroutine_handle<>;
using u64 = std::uint64_t;

constexpr u64 units_per_second = 512;
constexpr u64 units_per_frame = 8;

struct Random {
    u64 state;

    u64 next() {
        state += 0x9E3779B97F4A7C15;
        u64 z = state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    u64 below(u64 bound) { return ((next() >> 32) * bound) >> 32; }
};

u64 tally = 0;

struct Actor {
    u64 resumes = 0;
    Random random;
    u64 ballast[3];

    explicit Actor(u64 index) : random{index}, ballast{index, index, index} {}
    Actor(const Actor &) = delete;
    ~Actor() {
        asm volatile("" : : "r"(ballast) : "memory");
        tally += resumes;
    }

    u64 next_units(bool weeks) {
        return weeks ? units_per_second * 1000000 + random.below(units_per_second * 1000000)
                     : units_per_second / 2 + random.below(units_per_second * 9 / 2);
    }
};

struct Sleeper {
    u64 deadline;
    Handle handle;

    bool operator<(const Sleeper &other) const { return deadline > other.deadline; }
};

struct Scheduler {
    static constexpr int phases = 4;
    std::vector<Handle> next[phases];
    std::vector<Handle> current;
    std::priority_queue<Sleeper> sleepers;
    u64 now = 0;

    void run_phase(int phase) {
        std::swap(next[phase], current);
        for (Handle handle : current) handle.resume();
        current.clear();
    }

    void run_frame() {
        now += units_per_frame;
        run_phase(0);
        while (!sleepers.empty() && sleepers.top().deadline <= now) {
            Handle handle = sleepers.top().handle;
            sleepers.pop();
            handle.resume();
        }
    }
};

// One world at a time, as for every system.
Scheduler *scheduler = nullptr;

struct NextFrame {
    int phase = 0;

    bool await_ready() const noexcept { return false; }
    void await_suspend(Handle handle) const { scheduler->next[phase].push_back(handle); }
    void await_resume() const noexcept {}
};

struct Sleep {
    u64 units;

    bool await_ready() const noexcept { return false; }
    void await_suspend(Handle handle) const {
        scheduler->sleepers.push({scheduler->now + units, handle});
    }
    void await_resume() const noexcept {}
};

// Begins at once, and frees itself at its end. Scripts that wait for the frame are
// in the queue.
struct Script {
    struct promise_type {
        Script get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() { std::terminate(); }
    };
};

// Begins at once, and may be joined: the joiner goes on when it ends.
struct Child {
    struct promise_type {
        u64 result = 0;
        Handle joiner = nullptr;

        Child get_return_object() {
            return Child(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        auto final_suspend() noexcept {
            struct GoOn {
                bool await_ready() const noexcept { return false; }
                Handle await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
                    Handle joiner = ended.promise().joiner;
                    return joiner ? joiner : std::noop_coroutine();
                }
                void await_resume() const noexcept {}
            };
            return GoOn{};
        }
        void return_value(u64 value) noexcept { result = value; }
        void unhandled_exception() { std::terminate(); }
    };

    std::coroutine_handle<promise_type> handle;

    explicit Child(std::coroutine_handle<promise_type> handle) : handle(handle) {}
    Child(Child &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    ~Child() {
        if (handle) handle.destroy();
    }

    bool await_ready() const noexcept { return handle.done(); }
    void await_suspend(Handle joiner) const noexcept { handle.promise().joiner = joiner; }
    u64 await_resume() const noexcept { return handle.promise().result; }
};

Script awake(u64 index, int phase) {
    Actor actor(index);
    for (;;) {
        co_await NextFrame{phase};
        actor.resumes += 1;
    }
}

Script asleep(u64 index, bool weeks) {
    Actor actor(index);
    for (;;) {
        co_await Sleep{actor.next_units(weeks)};
        actor.resumes += 1;
    }
}

Script short_lived(u64 index) {
    Actor actor(index);
    co_await NextFrame{};
    actor.resumes += 1;
}

// A child begins at once, and stands behind all others in the next frame.
Script churning(u64 index) {
    Actor actor(index);
    for (;;) {
        co_await NextFrame{};
        actor.resumes += 1;
        short_lived(index);
        co_await NextFrame{};
        actor.resumes += 1;
    }
}

Child child(u64 index) {
    u64 ballast[5] = {index, index, index, index, index};
    asm volatile("" : : "r"(ballast) : "memory");
    co_return 1;
}

Script parent(u64 children) {
    Actor actor(0);
    for (;;) {
        co_await NextFrame{};
        for (u64 index = 0; index < children; ++index) {
            Child started = child(index);
            actor.resumes += co_await started;
        }
    }
}

Child leaf() {
    co_await NextFrame{};
    co_return 1;
}

Child link(Child below) {
    u64 levels;
    {
        // Freed on the way up: at the end, all would be freed by recursion.
        Child owned = std::move(below);
        levels = co_await owned;
    }
    co_return levels + 1;
}

Script chain(u64 depth) {
    Actor actor(0);
    Child top = leaf();
    for (u64 level = 1; level < depth; ++level) {
        Child above = link(std::move(top));
        std::swap(top.handle, above.handle);
    }
    actor.resumes += co_await top;
}

}  // namespace

extern "C" {

void cpp_begin() { scheduler = new Scheduler; }

// Coroutines that wait are destroyed with the world: all of them are in the queues,
// except chains, of which only the leaf is in a queue; no chain is left waiting.
void cpp_end() {
    Scheduler *ended = scheduler;
    for (auto &queue : ended->next) {
        for (Handle handle : queue) handle.destroy();
    }
    while (!ended->sleepers.empty()) {
        ended->sleepers.top().handle.destroy();
        ended->sleepers.pop();
    }
    delete ended;
    scheduler = nullptr;
}

u64 cpp_take_tally() { return std::exchange(tally, 0); }

void cpp_awake(u64 size, bool aged) {
    for (u64 index = 0; index < size; ++index) awake(index, 0);
    if (!aged) return;
    std::vector<Handle> &queue = scheduler->next[0];
    Random random{0x5EED};
    for (u64 last = queue.size() - 1; last > 0; --last) {
        std::swap(queue[last], queue[random.below(last + 1)]);
    }
}

void cpp_churning(u64 size, u64 one_in) {
    for (u64 index = 0; index < size; ++index) {
        if (index % one_in == 0) {
            churning(index);
        } else {
            awake(index, 0);
        }
    }
}

void cpp_asleep(u64 size, bool weeks) {
    for (u64 index = 0; index < size; ++index) asleep(index, weeks);
}

void cpp_spawn(u64 size) {
    for (u64 index = 0; index < size; ++index) short_lived(index);
}

void cpp_join(u64 children) { parent(children); }

void cpp_chain(u64 depth) { chain(depth); }

void cpp_phased(u64 size) {
    for (u64 index = 0; index < size; ++index) {
        awake(index, static_cast<int>(index % Scheduler::phases));
    }
}

void cpp_frames(u64 count) {
    for (u64 frame = 0; frame < count; ++frame) scheduler->run_frame();
}

void cpp_frames_of_phases(u64 count) {
    for (u64 frame = 0; frame < count; ++frame) {
        for (int phase = 0; phase < Scheduler::phases; ++phase) scheduler->run_phase(phase);
    }
}

}
