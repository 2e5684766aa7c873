//! One thing to time: a training step, one sequence forward, or the recurrent layer alone.

use ernn::batch::Batch;
use ernn::cell::{Activation, CellConfig, ErnnConfig, Folded, FoldedGradient, Piece, Rank, RnnConfig};
use ernn::data::{Part, Values, View};
use ernn::model::{LossOptions, Model, ModelConfig, Runner, Workspace};
use ernn::optim::{Optimizer, OptimizerConfig};
use ernn_kernels::{StateGradient, Trace};
use rayon::ThreadPool;

const CLASSES: usize = 10;

/// A request without its number of iterations.
pub struct Request {
    task: String,
    cell: String,
    steps: usize,
    inputs: usize,
    hidden: usize,
    rank: usize,
    iterations: usize,
    batch: usize,
    threads: usize,
}

impl Request {
    /// Reads `task cell T d D r K batch threads`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [task, cell, numbers @ ..] = &words[..] else {
            return Err(format!("found {} words, expected ten", words.len() + 1));
        };
        let numbers: Vec<usize> = numbers
            .iter()
            .map(|word| word.parse().map_err(|_| format!("found {word}, expected a number")))
            .collect::<Result<_, _>>()?;
        let [steps, inputs, hidden, rank, iterations, batch, threads] = numbers[..] else {
            return Err(format!("found {} words, expected ten", words.len() + 1));
        };
        let (task, cell) = (task.to_string(), cell.to_string());
        Ok(Request {
            task,
            cell,
            steps,
            inputs,
            hidden,
            rank,
            iterations,
            batch,
            threads,
        })
    }

    fn config(&self) -> Result<CellConfig, String> {
        let rank = if self.rank == 0 {
            Rank::Full
        } else {
            Rank::Low(self.rank)
        };
        match self.cell.as_str() {
            "ernn" => Ok(CellConfig::Ernn(ErnnConfig {
                hidden: self.hidden,
                rank,
                iterations: self.iterations,
                max_steps: self.steps,
                ..ErnnConfig::default()
            })),
            "rnn" => Ok(CellConfig::Rnn(RnnConfig {
                hidden: self.hidden,
                rank,
                activation: Activation::Relu,
                ..RnnConfig::default()
            })),
            other => CellConfig::of_kind(other)
                .map(|cell| cell.with_hidden(self.hidden))
                .ok_or_else(|| format!("no cell {other}")),
        }
    }

    fn model(&self) -> Result<Model<f32>, String> {
        let config = ModelConfig::new(self.inputs, CLASSES, vec![self.config()?]);
        Model::new(config, 1).map_err(|error| error.to_string())
    }

    /// Random sequences of full length, uniform in +-1 (a linear congruential generator is random enough to time).
    fn part(&self) -> Part {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        Part {
            features: self.inputs,
            offsets: (0..=self.batch).map(|index| index * self.steps).collect(),
            values: Values::Numbers((0..self.batch * self.steps * self.inputs).map(|_| next()).collect()),
            labels: (0..self.batch).map(|index| (index % CLASSES) as u32).collect(),
            ..Part::default()
        }
    }
}

/// Something to time, built and ready.
pub struct Contestant {
    pool: ThreadPool,
    work: Work,
}

enum Work {
    Train(Box<Train>),
    Forward {
        runner: Box<Runner<f32>>,
        sequence: Vec<f32>,
    },
    Kernel(Box<Kernel>),
}

struct Train {
    model: Model<f32>,
    optimizer: Optimizer<f32>,
    batch: Batch<f32>,
    workspace: Workspace<f32>,
    gradient: Vec<f32>,
}

struct Kernel {
    cell: Folded<f32>,
    batch: Batch<f32>,
    trace: Trace<f32>,
    last: Vec<f32>,
    gradient: FoldedGradient<f32>,
}

impl Contestant {
    /// Builds what is asked for.
    pub fn build(request: &Request) -> Result<Self, String> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(request.threads.max(1))
            .build();
        let part = request.part();
        let mut batch = Batch::new();
        batch.fill(&View::of(&part), &(0..request.batch).collect::<Vec<_>>(), None);
        let model = request.model()?;
        let work = match request.task.as_str() {
            "train" => Work::Train(Box::new(Train {
                optimizer: Optimizer::new(OptimizerConfig::default(), model.parameters().len()),
                gradient: vec![0.0; model.parameters().len()],
                workspace: Workspace::default(),
                batch,
                model,
            })),
            "forward" => Work::Forward {
                runner: Box::new(model.runner()),
                sequence: part.sequence(0).to_vec(),
            },
            "kernel" => {
                let parameters = request.config()?.parameter_count(request.inputs);
                Work::Kernel(Box::new(Kernel {
                    cell: request
                        .config()?
                        .fold(request.inputs, &model.parameters()[..parameters]),
                    batch,
                    trace: Trace::default(),
                    last: vec![0.1; request.batch * request.hidden],
                    gradient: FoldedGradient::default(),
                }))
            }
            other => return Err(format!("no task {other}")),
        };
        Ok(Contestant {
            pool: pool.map_err(|error| error.to_string())?,
            work,
        })
    }

    /// One iteration.
    pub fn run(&mut self) {
        let Contestant { pool, work } = self;
        match work {
            Work::Train(train) => pool.install(|| train.step()),
            Work::Forward { runner, sequence } => {
                std::hint::black_box(runner.logits(sequence));
            }
            Work::Kernel(kernel) => pool.install(|| kernel.run()),
        }
    }
}

impl Train {
    fn step(&mut self) {
        let options = LossOptions::default();
        let result = self
            .model
            .loss_and_gradient(&self.batch, &options, &mut self.workspace, &mut self.gradient);
        result.expect("the batch fits the model");
        let spans = self.model.spans().to_vec();
        self.optimizer
            .step(self.model.parameters_mut(), &self.gradient, 1e-3, &spans);
    }
}

impl Kernel {
    fn run(&mut self) {
        let piece = Piece {
            input: &self.batch.inputs,
            initial: None,
            first_step: 0,
        };
        self.cell.forward(piece, &mut self.trace);
        let states = StateGradient {
            last: Some(&self.last),
            ..StateGradient::default()
        };
        self.cell
            .backward(piece, &mut self.trace, states, &mut self.gradient, None, None);
    }
}
