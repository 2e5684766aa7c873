use super::*;
use ernn::data::{self, OpenOptions};

fn vowels() -> Dataset {
    data::open("japanese-vowels", &OpenOptions::default()).unwrap()
}

fn request(cells: &str) -> Request {
    Request {
        cells: cells.split(' ').map(String::from).collect(),
        seeds: 3,
        ..Request::default()
    }
}

fn plan(request: &Request) -> Result<Plan> {
    Plan::new(&RunConfig::defaults("japanese-vowels"), &vowels(), request)
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.rows.iter().map(|row| row.name.as_str()).collect()
}

fn hidden(row: &Row) -> usize {
    row.settings.model.layers[0].hidden()
}

#[test]
fn iterations_make_rows_of_the_cells_that_have_them() {
    let mut request = request("rnn ernn antisymmetric");
    assert_eq!(names(&plan(&request).unwrap()), ["rnn", "ernn-k1", "antisymmetric"]);
    request.iterations = vec![3, 1];
    let plan = plan(&request).unwrap();
    assert_eq!(names(&plan), ["rnn", "ernn-k3", "ernn-k1", "antisymmetric"]);
    assert_eq!(plan.seeds, [1, 2, 3]);
    assert!(plan.rows.iter().all(|row| hidden(row) == 64));
    let k = plan.rows[1].settings.layer_setting("iterations").unwrap();
    assert_eq!(k, Value::Integer(3));
    let run = PlannedRun { row: 1, seed: 3 };
    assert_eq!(plan.settings(run).training.seed, 3);
    assert_eq!(plan.run_name(run), "ernn-k3/seed-3");
}

#[test]
fn iterations_that_are_searched_for_make_no_kinds() {
    let mut request = request("ernn rnn");
    request.vary = vec!["iterations=1,3".parse().unwrap()];
    let searched = plan(&request).unwrap();
    assert_eq!(names(&searched), ["ernn-k1", "ernn-k3", "rnn"]);
    let kinds = |plan: &Plan| plan.rows.iter().map(|row| row.kind.clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&searched), ["ernn", "ernn", "rnn"]);
    request.vary = vec!["gamma=1,2".parse().unwrap()];
    request.iterations = vec![1, 3];
    assert_eq!(
        kinds(&plan(&request).unwrap()),
        ["ernn-k1", "ernn-k1", "ernn-k3", "ernn-k3", "rnn"]
    );
}

#[test]
fn a_setting_goes_to_the_cells_that_have_it() {
    let mut request = request("ernn rnn");
    request.layer_settings = vec![
        ("hidden".to_string(), Value::Integer(20)),
        ("gamma".to_string(), Value::Float(0.5)),
    ];
    let plan = plan(&request).unwrap();
    assert!(plan.rows.iter().all(|row| hidden(row) == 20));
    assert_eq!(plan.rows[0].settings.layer_setting("gamma"), Some(Value::Float(0.5)));
    assert_eq!(plan.rows[1].settings.layer_setting("gamma"), None);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let with = |change: fn(&mut Request)| {
        let mut request = request("rnn fastrnn");
        change(&mut request);
        plan(&request).unwrap_err().to_string()
    };
    let gamma = |request: &mut Request| request.layer_settings = vec![("gamma".to_string(), Value::Float(0.5))];
    let expected = "gamma: found 0.5, expected no such setting for any of rnn, fastrnn";
    assert_eq!(with(gamma), expected);
    assert!(with(|request| request.iterations = vec![3]).starts_with("iterations: found 3, expected no such"));
    let cell = with(|request| request.cells.push("elman".to_string()));
    assert!(cell.starts_with("--cells: found elman, expected ernn, rnn"), "{cell}");
    let twice = with(|request| request.cells.push("rnn".to_string()));
    assert_eq!(twice, "--cells: found rnn twice, expected each one once");
    assert!(with(|request| request.seeds = 0).starts_with("--seeds: found 0, expected 1 to 100"));
    let rank = with(|request| request.layer_settings = vec![("rank".to_string(), Value::Integer(65))]);
    assert!(rank.starts_with("rank: found 65"), "{rank}");

    let mut base = RunConfig::defaults("japanese-vowels");
    base.training.seed = i64::MAX as u64 - 1;
    let error = Plan::new(&base, &vowels(), &request("rnn")).unwrap_err().to_string();
    assert!(
        error.starts_with("--seed: found 9223372036854775806, expected room for 3 seeds"),
        "{error}"
    );
}

#[test]
fn shards_share_the_runs_evenly_and_completely() {
    let mut request = request("ernn rnn fastrnn antisymmetric");
    request.iterations = vec![1, 3, 5];
    for seeds in [1, 2, 3, 5] {
        request.seeds = seeds;
        let plan = plan(&request).unwrap();
        assert_eq!(plan.runs(Shard::default()).len(), 6 * seeds);
        for count in 1..=7 {
            let shards = (1..=count).map(|index| plan.runs(format!("{index}/{count}").parse().unwrap()));
            let shards: Vec<Vec<PlannedRun>> = shards.collect();
            for row in 0..plan.rows.len() {
                let of_row = |runs: &Vec<PlannedRun>| runs.iter().filter(|run| run.row == row).count();
                let (least, most) = (shards.iter().map(of_row).min(), shards.iter().map(of_row).max());
                assert!(
                    most.unwrap() - least.unwrap() <= 1,
                    "each shard has its share of row {row}"
                );
                for &seed in &plan.seeds {
                    let run = PlannedRun { row, seed };
                    let holders = shards.iter().filter(|runs| runs.contains(&run)).count();
                    assert_eq!(holders, 1, "{run:?} of {count} shards");
                }
            }
            let total: usize = shards.iter().map(Vec::len).sum();
            assert_eq!(total, 6 * seeds);
        }
    }
    let order: Vec<(usize, u64)> = plan(&request)
        .unwrap()
        .runs("1/2".parse().unwrap())
        .iter()
        .take(7)
        .map(|run| (run.row, run.seed))
        .collect();
    let expected = [(0, 1), (2, 1), (4, 1), (1, 2), (3, 2), (5, 2), (0, 3)];
    assert_eq!(order, expected, "all rows before another seed");
}

#[test]
fn matched_models_come_closest_in_parameters() {
    let mut request = request("ernn rnn fastrnn antisymmetric");
    request.iterations = vec![1, 5];
    request.matching = Matching::Parameters;
    let plan = plan(&request).unwrap();
    let dataset = vowels();
    let target = plan.rows[0].parameters;
    assert_eq!(hidden(&plan.rows[0]), 64);
    for row in &plan.rows {
        assert_eq!(row.parameters, parameters(&row.settings, &dataset));
        let distance = |hidden: usize| {
            let mut settings = row.settings.clone();
            settings
                .set_in_layers("hidden", &Value::Integer(hidden as i64))
                .unwrap();
            parameters(&settings, &dataset).abs_diff(target)
        };
        let own = distance(hidden(row));
        let closest = (1..200).map(distance).min().unwrap();
        assert_eq!(own, closest, "{}", row.name);
    }
    assert!(
        hidden(&plan.rows[2]) < 64,
        "a dense matrix costs more than one of rank 8"
    );
}

#[test]
fn a_matched_size_is_not_below_the_rank() {
    let mut base = RunConfig::defaults("japanese-vowels");
    base.training.epochs = 1;
    let mut request = request("ernn rnn");
    request.matching = Matching::Parameters;
    request.layer_settings = vec![
        ("hidden".to_string(), Value::Integer(30)),
        ("rank".to_string(), Value::Integer(30)),
    ];
    request.cells.reverse();
    let plan = Plan::new(&base, &vowels(), &request).unwrap();
    assert_eq!(
        hidden(&plan.rows[1]),
        30,
        "smaller would be closer, but is below the rank"
    );
}
