/* Counts the moments of a page down, by the clock that decides: the page says what time it was when it was made.
   Without this script the page says how far the moments were then. */
"use strict";
document.addEventListener("DOMContentLoaded", () => {
    const panel = document.querySelector("[data-toa-now]");
    if (!panel) {
        return;
    }
    const loaded = performance.now();
    const began = Number(panel.dataset.toaNow);
    const moments = [...panel.querySelectorAll("[data-toa-moment]")];
    const units = [["d", 86400000], ["h", 3600000], ["min", 60000], ["s", 1000]];
    const GIVE_UP_MS = 60000;
    const AGAIN_MS = 1500;

    /* The same two units as the page itself writes. */
    function span(length) {
        const first = units.findIndex(([, size]) => length >= size);
        if (first < 0) {
            return "0 s";
        }
        const [unit, size] = units[first];
        const whole = `${Math.floor(length / size)} ${unit}`;
        const next = units[first + 1];
        const rest = next ? Math.floor((length % size) / next[1]) : 0;
        return rest ? `${whole} ${rest} ${next[0]}` : whole;
    }

    let asked = false;
    function tick() {
        const now = began + performance.now() - loaded;
        let next = 1000;
        for (const one of moments) {
            const left = Number(one.dataset.toaMoment) - now;
            one.textContent = left > 0 ? `in ${span(left + 999)}` : `${span(-left)} late`;
            one.classList.toggle("toa-late", left <= 0);
            if (left > 0) {
                next = Math.min(next, left % 1000 || 1000);
            } else if (-left < GIVE_UP_MS && !asked) {
                /* It has come due: look what became of it. */
                asked = true;
                setTimeout(() => window.location.reload(), AGAIN_MS);
            }
        }
        setTimeout(tick, next + 5);
    }
    if (moments.length) {
        tick();
    }
});
