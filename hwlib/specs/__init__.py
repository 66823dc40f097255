"""Hardware facts: every value with its unit, its source, and the text that the source printed.

>>> from hwlib.specs import accelerators
>>> accelerators["h100-sxm"].hbm_bandwidth
3350000000000.0
>>> accelerators["h100-sxm"].datum("hbm_bandwidth").printed
'3.35 TB/s'
>>> from hwlib.specs import clusters, nodes
>>> nodes["dgx-h100"].scaleup_bandwidth, clusters["superpod-h100-4su"].switches
(450000000000.0, 560)
"""

from hwlib.specs.accelerator import Accelerator, accelerators
from hwlib.specs.allreduce_measurements import MeasuredAllreduce, measured_allreduces
from hwlib.specs.cluster import Cluster, clusters, levels_of
from hwlib.specs.decode_measurements import (
    MeasuredDecode,
    MeasuredDecodeAttention,
    measured_decode_attention,
    measured_decodes,
)
from hwlib.specs.draft_measurements import MeasuredDrafts, measured_drafts
from hwlib.specs.expert_measurements import (
    MeasuredExchange,
    MeasuredExperts,
    MeasuredLoads,
    measured_exchanges,
    measured_experts,
    measured_loads,
)
from hwlib.specs.failure_measurements import (
    MeasuredCheckpoint,
    MeasuredFailures,
    measured_checkpoint,
    measured_failures,
)
from hwlib.specs.feature import Features, features
from hwlib.specs.framework import Framework, frameworks
from hwlib.specs.gemm_measurements import MeasuredGemm, measured_gemms
from hwlib.specs.interruption_measurements import MeasuredInterruption, measured_interruptions
from hwlib.specs.level import Level
from hwlib.specs.link import Link, Switch, links, switches
from hwlib.specs.link_measurements import MeasuredLink, measured_link, measured_links
from hwlib.specs.machine_measurements import MeasuredFabric, MeasuredMachine, measured_fabrics, measured_machines
from hwlib.specs.memory_measurements import MeasuredMemory, measured_memory
from hwlib.specs.mixture_measurements import MeasuredMixture, measured_mixtures
from hwlib.specs.model import Model, models, read_config
from hwlib.specs.node import Node, nodes
from hwlib.specs.own_cluster import OwnCluster, described, read_cluster
from hwlib.specs.pipeline_measurements import MeasuredPipeline, measured_pipelines
from hwlib.specs.plan_measurements import MeasuredPlan, measured_plans
from hwlib.specs.power_measurements import MeasuredPower, measured_powers
from hwlib.specs.reader import Datum
from hwlib.specs.recipe import Recipe, constants_release, merges_tokens, recipes
from hwlib.specs.release import Release, release_of
from hwlib.specs.run_measurements import MeasuredRun, measured_run, measured_runs
from hwlib.specs.serving_measurements import MeasuredLength, MeasuredService, measured_lengths, measured_services
from hwlib.specs.software_record import Software, framework_of, software, software_of
from hwlib.specs.split_measurements import MeasuredRequest, MeasuredSplit, measured_requests, measured_splits
from hwlib.specs.stack import Stack, stack_for, stack_named, stack_on, stacks
from hwlib.specs.table import SpecError
from hwlib.specs.training_measurements import MeasuredStep, measured_steps
from hwlib.specs.users_measurements import MeasuredUsers, measured_users

__all__ = [
    "Accelerator",
    "Cluster",
    "Datum",
    "Features",
    "Framework",
    "Level",
    "Link",
    "MeasuredAllreduce",
    "MeasuredCheckpoint",
    "MeasuredDecode",
    "MeasuredDecodeAttention",
    "MeasuredDrafts",
    "MeasuredExchange",
    "MeasuredExperts",
    "MeasuredFabric",
    "MeasuredFailures",
    "MeasuredGemm",
    "MeasuredInterruption",
    "MeasuredLength",
    "MeasuredLink",
    "MeasuredLoads",
    "MeasuredMachine",
    "MeasuredMemory",
    "MeasuredMixture",
    "MeasuredPipeline",
    "MeasuredPlan",
    "MeasuredPower",
    "MeasuredRequest",
    "MeasuredRun",
    "MeasuredService",
    "MeasuredSplit",
    "MeasuredStep",
    "MeasuredUsers",
    "Model",
    "Node",
    "OwnCluster",
    "Recipe",
    "Release",
    "Software",
    "SpecError",
    "Stack",
    "Switch",
    "accelerators",
    "clusters",
    "constants_release",
    "described",
    "features",
    "framework_of",
    "frameworks",
    "levels_of",
    "links",
    "measured_allreduces",
    "measured_checkpoint",
    "measured_decode_attention",
    "measured_decodes",
    "measured_drafts",
    "measured_exchanges",
    "measured_experts",
    "measured_fabrics",
    "measured_failures",
    "measured_gemms",
    "measured_interruptions",
    "measured_lengths",
    "measured_link",
    "measured_links",
    "measured_loads",
    "measured_machines",
    "measured_memory",
    "measured_mixtures",
    "measured_pipelines",
    "measured_plans",
    "measured_powers",
    "measured_requests",
    "measured_run",
    "measured_runs",
    "measured_services",
    "measured_splits",
    "measured_steps",
    "measured_users",
    "merges_tokens",
    "models",
    "nodes",
    "read_cluster",
    "read_config",
    "recipes",
    "release_of",
    "software",
    "software_of",
    "stack_for",
    "stack_named",
    "stack_on",
    "stacks",
    "switches",
]
