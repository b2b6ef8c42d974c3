//! The figures of a chart as a table, for those who do not see it and for those who want to read them off.

use yew::prelude::*;

/// A chart's table: closed until it is asked for. `name` says of what.
pub(crate) fn twin(id: &'static str, name: &'static str, columns: &[&str], rows: Vec<Vec<String>>) -> Html {
    html! {
        <details class="twin" {id}>
            <summary>{ "As table" }<span class="visually-hidden">{ format!(": {name}") }</span></summary>
            <table class="table latencies">
                <caption class="visually-hidden">{ name }</caption>
                <thead><tr>{ for columns.iter().map(|name| html! { <th scope="col">{ *name }</th> }) }</tr></thead>
                <tbody>
                    for row in rows {
                        <tr>
                            for (place, cell) in row.into_iter().enumerate() {
                                if place == 0 {
                                    <th scope="row">{ cell }</th>
                                } else {
                                    <td>{ cell }</td>
                                }
                            }
                        </tr>
                    }
                </tbody>
            </table>
        </details>
    }
}

/// So many times, evenly over a run.
pub(crate) fn times(end_ns: f64) -> impl Iterator<Item = f64> {
    const ROWS: u32 = 10;
    (1..=ROWS).map(move |row| end_ns * f64::from(row) / f64::from(ROWS))
}
