#include "suite/report/markup.hpp"

#include "suite/report/text/terminal_text.hpp"

namespace assay::report {

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point(text, at);
        const bool white = c.value == '\t' || c.value == '\n';
        if (!is_printable(c) && !white)
            out += "\xef\xbf\xbd";
        else if (c.value == '&')
            out += "&amp;";
        else if (c.value == '<')
            out += "&lt;";
        else if (c.value == '>')
            out += "&gt;";
        else if (c.value == '"')
            out += "&quot;";
        else if (c.value == '\'')
            out += "&#39;";
        else
            out += text.substr(at, c.bytes);
        at += c.bytes;
    }
    return out;
}

std::string escaped_prose(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t open = text.find('`');
        const std::size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
        if (close == std::string_view::npos) break;
        out += escaped(text.substr(0, open));
        out += "<code>" + escaped(text.substr(open + 1, close - open - 1)) + "</code>";
        text.remove_prefix(close + 1);
    }
    return out + escaped(text);
}

std::string as_id(std::string_view text) {
    std::string id;
    for (const char c : text) {
        const bool keep =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        id += keep ? c : '-';
    }
    return id;
}

// Light and dark by the reader's preference; paper is always light. Colour means verdict here, and
// only here; the figures have colours of their own.
std::string_view page_style_sheet() {
    return R"(<style>
:root{--ink:#1c2127;--muted:#5a6570;--line:#d9dee3;--ground:#fff;--soft:#f5f7f9;
--good:#1a6b3a;--good-bg:#dff3e5;--bad:#a3261b;--bad-bg:#fbe3e0;--open:#7a5200;--open-bg:#fdf0d2;--fit:#4b3a8f;--fit-bg:#e9e5f8;--none:#4b545d;--none-bg:#eaedf0}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e4e7eb;--muted:#a3abb5;--line:#323a43;--ground:#15181d;--soft:#1d2127;
--good:#8fe0ac;--good-bg:#173523;--bad:#ffb0a6;--bad-bg:#46201c;--open:#f5cf7a;--open-bg:#3d2f10;--fit:#c6b9ff;--fit-bg:#2c2550;--none:#bcc4cc;--none-bg:#2a3037}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:880px;padding:24px 20px 60px;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,"DejaVu Sans",sans-serif}
h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.25rem;margin:0}h3{font-size:1rem;margin:1.2rem 0 .4rem}
p{margin:.4rem 0}.muted,.source,.reason{color:var(--muted)}.source,.reason{font-size:.85em}
header{border-bottom:2px solid var(--ink);padding-bottom:14px;margin-bottom:8px}
nav{margin:.6rem 0;display:flex;flex-wrap:wrap;gap:4px 14px}a{color:inherit}
.tally{display:flex;flex-wrap:wrap;gap:6px;margin:.7rem 0}
section{padding:22px 0 14px;border-bottom:1px solid var(--line)}
code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.86em;overflow-wrap:anywhere}
.badge{display:inline-block;border:1px solid var(--muted);color:var(--muted);border-radius:4px;padding:0 7px;font-size:.78rem}
.verdict{display:inline-block;border-radius:4px;padding:1px 8px;font-size:.8rem;font-weight:600;white-space:nowrap;color:var(--none);background:var(--none-bg)}
.v-supported{color:var(--good);background:var(--good-bg)}.v-contradicted{color:var(--bad);background:var(--bad-bg)}
.v-undecided{color:var(--open);background:var(--open-bg)}.v-calibrated{color:var(--fit);background:var(--fit-bg)}
.claims .says td{border-bottom:0;padding-bottom:0}.claims .why{padding-top:0}.claims td.num{white-space:normal;max-width:9em}
.headlines td:nth-child(2){min-width:18em}
.wide{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;font-size:.86rem;width:100%}
th,td{text-align:left;padding:4px 10px 4px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--muted);border-bottom:1px solid var(--muted);white-space:nowrap}
.grid td{white-space:nowrap}.grid th{white-space:normal;vertical-align:bottom}.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
figure{margin:.8rem 0}figure svg{width:100%;height:auto;display:block;border:1px solid var(--line);border-radius:6px}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--muted)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:1px 14px;margin:.5rem 0;font-size:.86rem}dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}
.note{background:var(--soft);border-left:3px solid var(--muted);padding:8px 14px;margin:.7rem 0}
@media print{body{max-width:none;padding:0;font-size:11px}section{break-inside:auto}figure,tr{break-inside:avoid}nav{display:none}.wide{overflow:visible}
.verdict{border:1px solid;print-color-adjust:exact;-webkit-print-color-adjust:exact}}
</style>
)";
}

}  // namespace assay::report
