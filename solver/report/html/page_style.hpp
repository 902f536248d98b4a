// How the page of a report looks: light and dark, wide screens and telephones; wide tables scroll in boxes of their
// own.
#pragma once

namespace staghorn {

inline constexpr const char* page_style = R"(
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #cf222e; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 0 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; }
.badge { border-left: 6px solid var(--good); padding: .2rem .7rem; margin: .5rem 0; }
.badge.bad { border-color: var(--bad); }
.why { margin: 0 0 .5rem 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { text-align: left; padding: .15rem .8rem .15rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 500; } td { white-space: nowrap; } td.long { white-space: normal; min-width: 12rem; }
figure { margin: .8rem 0; overflow-x: auto; } svg { width: 100%; min-width: 36rem; height: auto; }
svg text { font-size: 12px; fill: currentColor; } .middle { text-anchor: middle; } .end { text-anchor: end; }
.grid { stroke: var(--line); fill: none; }
.line { fill: none; stroke: currentColor; stroke-width: 1.4; opacity: .85; } .dashed { stroke-dasharray: 6 4; stroke: #888; }
.mark { fill: none; stroke: currentColor; stroke-width: 1.8; }
.c0 { color: #0969da; } .c1 { color: #bc4c00; } .c2 { color: #1a7f37; } .c3 { color: #8250df; } .c4 { color: #bf3989; }
.c5 { color: #9a6700; }
summary { cursor: pointer; } @media (max-width: 30rem) { svg { min-width: 0; } svg text { font-size: 20px; } }
.key { display: inline-block; margin-right: 1.2rem; } .key i { display: inline-block; width: 1.2rem; border-top: 3px solid; margin-right: .4rem; vertical-align: middle; }
)";

}  // namespace staghorn
